//! libhsa-runtime64.so.1: the HSA C interface over hsa-core
