// A program that links the loader and nothing else of ours: one measured process of bench_load.
//
//   child load FILE            opens the package, builds every pipeline
//   child hash FILE FROM SIZE  reads that part of the file into memory and hashes it: the least that a careful loader
//   can do child none                 starts and ends
//
// Prints microseconds since main() began, and for load the number of pipelines.
#include "smelt/base/digest.hpp"
#include "smelt/base/files.hpp"
#include "smelt/loader/library.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using Clock = std::chrono::steady_clock;

int fail_with(const std::string& message) {
  std::fprintf(stderr, "child: %s\n", message.c_str());
  return 1;
}

int report(Clock::time_point start, size_t count) {
  const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
  std::printf("%.2f %zu\n", spent.count(), count);
  return 0;
}

int load(Clock::time_point start, const char* path) {
  using namespace smelt::loader;
  DeviceOptions options;
  if (const char* threads = std::getenv("BENCH_THREADS")) options.threads = static_cast<unsigned>(std::atoi(threads));
  const auto device = Device::open(DeviceKind::cpu, options);
  if (!device) return fail_with(device.error().message);
  const auto library = Library::load_file(*device, path);
  if (!library) return fail_with(library.error().message);
  const auto prepared = (*library)->prepare();
  if (!prepared) return fail_with(prepared.error().message);
  return report(start, *prepared);
}

int hash(Clock::time_point start, const char* path, size_t from, size_t size) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail_with("cannot open");
  smelt::Bytes bytes(size);
  for (size_t done = 0; done < size;) {
    const ssize_t count = ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(from + done));
    if (count <= 0) return fail_with("cannot read");
    done += static_cast<size_t>(count);
  }
  ::close(file);
  const smelt::Digest digest = smelt::sha256(bytes);
  return report(start, std::to_integer<size_t>(digest.bytes[0]));
}

}  // namespace

int main(int count, char** arguments) {
  const Clock::time_point start = Clock::now();
  const std::string_view verb = count > 1 ? arguments[1] : "";
  if (verb == "load" && count == 3) return load(start, arguments[2]);
  if (verb == "hash" && count == 5)
    return hash(start, arguments[2], std::strtoull(arguments[3], nullptr, 10),
                std::strtoull(arguments[4], nullptr, 10));
  if (verb == "none") return report(start, 0);
  return fail_with("load FILE | hash FILE FROM SIZE | none");
}
