// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that links the loader and nothing else of ours: one measured process of bench_load.
//
//   child open FILE               opens the device and the package's library: every name can be asked for
//   child call FILE NAME          the same, then makes one pipeline and runs it for one thread
//   child all FILE                the same as open, then builds every pipeline
//   child hash FILE FROM SIZE...  reads these parts of the file into memory and hashes them: the least that a careful
//                                 loader can do
//   child none                    starts and ends
//
// Prints microseconds since main() began.
#include "smelt/base/digest.hpp"
#include "smelt/base/files.hpp"
#include "smelt/loader/encoder.hpp"
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

int report(Clock::time_point start) {
  const std::chrono::duration<double, std::micro> spent = Clock::now() - start;
  std::printf("%.2f\n", spent.count());
  return 0;
}

/// One thread of a kernel (x, y, float a, int n) that writes y.
smelt::Result<void> call(const smelt::loader::LibraryRef& library, const char* name) {
  using namespace smelt::loader;
  SMELT_TRY(const FunctionRef function, library->function(name));
  SMELT_TRY(const PipelineRef pipeline, function->pipeline());
  SMELT_TRY(const std::unique_ptr<Encoder> encoder, Encoder::create(library->device()));
  float x = 1, y = 0, a = 2;
  int32_t n = 1;
  const auto bytes_of = [](auto& value) { return std::as_writable_bytes(std::span(&value, 1)); };
  SMELT_TRY_VOID(encoder->set_pipeline(pipeline));
  SMELT_TRY_VOID(encoder->set_memory(0, bytes_of(x)));
  SMELT_TRY_VOID(encoder->set_memory(1, bytes_of(y)));
  SMELT_TRY_VOID(encoder->set_bytes(2, bytes_of(a)));
  SMELT_TRY_VOID(encoder->set_bytes(3, bytes_of(n)));
  SMELT_TRY_VOID(encoder->dispatch_threads({1}));
  if (y != 2) return smelt::fail(smelt::Errc::invalid_argument, "{} gives {}, want 2", name, y);
  return {};
}

int load(Clock::time_point start, std::string_view verb, const char* path, const char* name) {
  using namespace smelt::loader;
  DeviceOptions options;
  if (const char* threads = std::getenv("BENCH_THREADS")) options.threads = static_cast<unsigned>(std::atoi(threads));
  const auto device = Device::open(DeviceKind::cpu, options);
  if (!device) return fail_with(device.error().message);
  const auto library = Library::load_file(*device, path);
  if (!library) return fail_with(library.error().message);
  if (verb == "call")
    if (const auto called = call(*library, name); !called) return fail_with(called.error().message);
  if (verb == "all")
    if (const auto prepared = (*library)->prepare(); !prepared) return fail_with(prepared.error().message);
  return report(start);
}

int hash(Clock::time_point start, const char* path, char** parts, int count) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail_with("cannot open");
  for (int i = 0; i + 1 < count; i += 2) {
    const size_t from = std::strtoull(parts[i], nullptr, 10), size = std::strtoull(parts[i + 1], nullptr, 10);
    smelt::Bytes bytes(size);
    for (size_t done = 0; done < size;) {
      const ssize_t some = ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(from + done));
      if (some <= 0) return fail_with("cannot read");
      done += static_cast<size_t>(some);
    }
    if (smelt::sha256(bytes) == smelt::Digest{}) return fail_with("a hash of zeros");
  }
  ::close(file);
  return report(start);
}

}  // namespace

int main(int count, char** arguments) {
  const Clock::time_point start = Clock::now();
  const std::string_view verb = count > 1 ? arguments[1] : "";
  if ((verb == "open" || verb == "all") && count == 3) return load(start, verb, arguments[2], "");
  if (verb == "call" && count == 4) return load(start, verb, arguments[2], arguments[3]);
  if (verb == "hash" && count >= 5) return hash(start, arguments[2], arguments + 3, count - 3);
  if (verb == "none") return report(start);
  return fail_with("open FILE | call FILE NAME | all FILE | hash FILE FROM SIZE... | none");
}
