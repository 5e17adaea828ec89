// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Failing file calls, ours and SQLite's: whatever fails, an entry is there whole or not at all, and nothing crashes.
#include "smelt/cache/file_layer.hpp"
#include "smelt/cache/store.hpp"

#include "entries.hpp"
#include "files.hpp"

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>

using namespace smelt;
using namespace smelt::cache;
using test::check;
using test::open;
using test::put;
using test::TemporaryFolder;

namespace {

// Counts down over all calls; the one that reaches zero fails, and with `sticky` all after it (a full disk).
struct Fuse {
  long left = -1;
  bool sticky = false;
  bool blown = false;
  bool burns() {
    if (left < 0) return false;
    if (left == 0) {
      blown = true;
      if (!sticky) left = -1;
      return true;
    }
    --left;
    return false;
  }
};

Fuse fuse;

class FailingFiles : public FileLayer {
 public:
  int open(const char* path, int flags, mode_t mode) override {
    if (fuse.burns()) return errno = EMFILE, -1;
    return FileLayer::open(path, flags, mode);
  }
  ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) override {
    if (fuse.burns()) {
      if (count > 1) (void)FileLayer::pwrite(fd, bytes, count / 2, at);  // torn
      return errno = ENOSPC, -1;
    }
    return FileLayer::pwrite(fd, bytes, count, at);
  }
  int fdatasync(int fd) override {
    if (fuse.burns()) return errno = EIO, -1;
    return FileLayer::fdatasync(fd);
  }
  int rename(const char* from, const char* to) override {
    if (fuse.burns()) return errno = EIO, -1;
    return FileLayer::rename(from, to);
  }
};

// A VFS that is the default one but for writes, syncs and truncates, which may fail.
struct FailingFile {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

sqlite3_io_methods methods;
sqlite3_vfs failing_vfs;
sqlite3_vfs* real_vfs = nullptr;

FailingFile* as_failing(sqlite3_file* file) {
  return reinterpret_cast<FailingFile*>(file);
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
  FailingFile* failing = as_failing(file);
  failing->base.pMethods = nullptr;
  const int code = real_vfs->xOpen(real_vfs, name, failing->real(), flags, out);
  if (code == SQLITE_OK) failing->base.pMethods = &methods;
  return code;
}

void install_vfs() {
  if (real_vfs) return;
  real_vfs = sqlite3_vfs_find(nullptr);
  methods.iVersion = 3;
  methods.xClose = [](sqlite3_file* f) { return as_failing(f)->real()->pMethods->xClose(as_failing(f)->real()); };
  methods.xRead = [](sqlite3_file* f, void* p, int n, sqlite3_int64 at) {
    return as_failing(f)->real()->pMethods->xRead(as_failing(f)->real(), p, n, at);
  };
  methods.xWrite = [](sqlite3_file* f, const void* p, int n, sqlite3_int64 at) {
    if (fuse.burns()) {
      (void)as_failing(f)->real()->pMethods->xWrite(as_failing(f)->real(), p, n / 2, at);  // torn
      return SQLITE_FULL;
    }
    return as_failing(f)->real()->pMethods->xWrite(as_failing(f)->real(), p, n, at);
  };
  methods.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
    if (fuse.burns()) return SQLITE_IOERR_TRUNCATE;
    return as_failing(f)->real()->pMethods->xTruncate(as_failing(f)->real(), size);
  };
  methods.xSync = [](sqlite3_file* f, int flags) {
    if (fuse.burns()) return SQLITE_IOERR_FSYNC;
    return as_failing(f)->real()->pMethods->xSync(as_failing(f)->real(), flags);
  };
  methods.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
    return as_failing(f)->real()->pMethods->xFileSize(as_failing(f)->real(), size);
  };
  methods.xLock = [](sqlite3_file* f, int level) {
    return as_failing(f)->real()->pMethods->xLock(as_failing(f)->real(), level);
  };
  methods.xUnlock = [](sqlite3_file* f, int level) {
    return as_failing(f)->real()->pMethods->xUnlock(as_failing(f)->real(), level);
  };
  methods.xCheckReservedLock = [](sqlite3_file* f, int* out) {
    return as_failing(f)->real()->pMethods->xCheckReservedLock(as_failing(f)->real(), out);
  };
  methods.xFileControl = [](sqlite3_file* f, int op, void* argument) {
    return as_failing(f)->real()->pMethods->xFileControl(as_failing(f)->real(), op, argument);
  };
  methods.xSectorSize = [](sqlite3_file* f) {
    return as_failing(f)->real()->pMethods->xSectorSize(as_failing(f)->real());
  };
  methods.xDeviceCharacteristics = [](sqlite3_file* f) {
    return as_failing(f)->real()->pMethods->xDeviceCharacteristics(as_failing(f)->real());
  };
  methods.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
    return as_failing(f)->real()->pMethods->xShmMap(as_failing(f)->real(), page, size, extend, out);
  };
  methods.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
    return as_failing(f)->real()->pMethods->xShmLock(as_failing(f)->real(), offset, n, flags);
  };
  methods.xShmBarrier = [](sqlite3_file* f) { as_failing(f)->real()->pMethods->xShmBarrier(as_failing(f)->real()); };
  methods.xShmUnmap = [](sqlite3_file* f, int remove) {
    return as_failing(f)->real()->pMethods->xShmUnmap(as_failing(f)->real(), remove);
  };
  methods.xFetch = [](sqlite3_file* f, sqlite3_int64 at, int n, void** out) {
    return as_failing(f)->real()->pMethods->xFetch(as_failing(f)->real(), at, n, out);
  };
  methods.xUnfetch = [](sqlite3_file* f, sqlite3_int64 at, void* p) {
    return as_failing(f)->real()->pMethods->xUnfetch(as_failing(f)->real(), at, p);
  };
  failing_vfs = *real_vfs;
  failing_vfs.zName = "failing";
  failing_vfs.szOsFile = real_vfs->szOsFile + static_cast<int>(sizeof(FailingFile));
  failing_vfs.xOpen = open_file;
  sqlite3_vfs_register(&failing_vfs, 1);
}

// Puts ten entries with the fuse set to blow at the n-th call; returns whether it blew. Afterwards, with nothing
// failing, the store must hold exactly what was acknowledged (or more: a commit whose last sync failed may have
// arrived).
bool one_round(const std::filesystem::path& where, long blow_at, bool sticky, bool durable) {
  FailingFiles files;
  std::vector<uint64_t> acknowledged;
  {
    fuse = {};
    StoreOptions options;
    options.files = &files;
    options.durable = durable;
    options.max_bytes = 0;
    auto store = open(where, options);
    fuse = {blow_at, sticky, false};
    for (uint64_t id = 0; id < 10; ++id) {
      const auto result = put(*store, id);
      if (result) acknowledged.push_back(id);
      if (!result) {
        CHECK_FALSE(result.error().message.empty());
        CHECK((result.error().code == Errc::io || result.error().code == Errc::store_corrupt));
      }
      CHECK(check(*store, id) >= 0);
    }
  }
  const bool blown = fuse.blown;
  fuse = {};
  auto store = open(where);
  for (const uint64_t id : acknowledged) CHECK(check(*store, id) == 1);
  for (uint64_t id = 0; id < 10; ++id) {
    CHECK(check(*store, id) >= 0);
    REQUIRE(put(*store, id));
    CHECK(check(*store, id) == 1);
  }
  CHECK(store->verify()->damage.empty());
  return blown;
}

}  // namespace

TEST_CASE("every single file call of ten puts fails once, or from then on") {
  install_vfs();
  TemporaryFolder folder;
  long rounds = 0;
  for (const bool durable : {false, true})
    for (const bool sticky : {false, true})
      for (long at = 0;; ++at, ++rounds) {
        const auto where = folder / fmt::format("s{}{}{}", durable, sticky, at);
        const bool blown = one_round(where, at, sticky, durable);
        std::filesystem::remove_all(where);
        if (!blown) break;
        REQUIRE(at < 5000);
      }
  MESSAGE(rounds, " faults injected");
  CHECK(rounds > 100);
}
