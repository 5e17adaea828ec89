// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads a package, lists its kernels, and sums the rows of a matrix with one of them; a SIMD group takes a row.
//
//     row_sum FILE
#include <smelt/loader/encoder.hpp>

#include <cstdio>
#include <vector>

using namespace smelt;
using namespace smelt::loader;

namespace {

constexpr uint32_t kRows = 7, kColumns = 333;

/// Memory of the device that holds `values`.
Result<BufferRef> buffer_of(const DeviceRef& device, const std::vector<float>& values) {
  SMELT_TRY(BufferRef buffer, device->make_buffer(values.size() * sizeof(float)));
  const auto bytes = std::as_bytes(std::span(values));
  std::copy(bytes.begin(), bytes.end(), buffer->contents().begin());
  return buffer;
}

/// How many of the sums are right.
Result<uint32_t> run(const char* file) {
  SMELT_TRY(const DeviceRef device, Device::open());
  SMELT_TRY(const LibraryRef library, Library::load_file(device, file));
  std::printf("%s runs on %s\n", file, std::string(device->name()).c_str());
  for (const std::string_view name : library->function_names()) std::printf("  %s\n", std::string(name).c_str());
  SMELT_TRY(const FunctionRef function, library->function("row_sum_float"));
  SMELT_TRY(const PipelineRef pipeline, function->pipeline());

  std::vector<float> matrix(kRows * kColumns);
  for (uint32_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i % 10);
  SMELT_TRY(const BufferRef x, buffer_of(device, matrix));
  SMELT_TRY(const BufferRef sums, device->make_buffer(kRows * sizeof(float)));

  SMELT_TRY(const std::unique_ptr<Encoder> encoder, Encoder::create(device));
  SMELT_TRY_VOID(encoder->set_pipeline(pipeline));
  SMELT_TRY_VOID(encoder->set_buffer(0, x));
  SMELT_TRY_VOID(encoder->set_buffer(1, sums));
  SMELT_TRY_VOID(encoder->set_bytes(2, std::as_bytes(std::span(&kColumns, 1))));
  SMELT_TRY_VOID(encoder->dispatch_threads({32 * kRows, 1, 1}, {32, 1, 1}));
  SMELT_TRY_VOID(encoder->wait());

  const float* found = reinterpret_cast<const float*>(sums->contents().data());
  uint32_t right = 0;
  for (uint32_t row = 0; row < kRows; ++row) {
    float wanted = 0;
    for (uint32_t i = 0; i < kColumns; ++i) wanted += matrix[row * kColumns + i];
    right += found[row] == wanted ? 1 : 0;  // small whole numbers: exact in any order
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: row_sum FILE\n");
    return 2;
  }
  const Result<uint32_t> right = run(argv[1]);
  if (!right) {
    std::fprintf(stderr, "%s (%s)\n", right.error().message.c_str(),
                 std::string(to_string(right.error().code)).c_str());
    return 1;
  }
  std::printf("%u of %u sums are right\n", *right, kRows);
  return *right == kRows ? 0 : 1;
}
