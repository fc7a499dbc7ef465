//! Driver abstraction over the Linux KFD contract: topology, apertures, memory, queues, events
