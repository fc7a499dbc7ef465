//! HSA runtime objects: agents, pools, queues, signals, loader, copies
