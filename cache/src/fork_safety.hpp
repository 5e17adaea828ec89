// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a fork() of the process means to the stores that it has open. Private to cache.
//
// SQLite keeps what this process has locked in memory, by file. A child that is forked while another thread is in a
// transaction inherits that memory without the thread: whatever it opens there is "locked" for as long as it lives. And
// descriptors of the lock file are shared with the child, so that a lock outlives the parent that took it, or is not
// given back by it. So before a fork all writers come to their end and the databases are closed (the next call opens
// them again), and after it the child has no descriptor of a lock.
#pragma once

namespace smelt::cache {

struct StoreState;

/// A store from here on; remove_store() before it goes, not under its mutex. Any thread.
void add_store(StoreState& state);
void remove_store(StoreState& state);

}  // namespace smelt::cache
