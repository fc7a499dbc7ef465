//! LD_PRELOAD interposer that serves /dev/kfd, /dev/dri and sysfs from vkfd
