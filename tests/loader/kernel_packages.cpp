// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_packages.hpp"

#include "files.hpp"

namespace smelt::test {
namespace {

using schema::Argument;
using schema::ArgumentKind;

Argument buffer(uint32_t index, const std::string& name, const std::string& type, uint32_t size = 4) {
  Argument argument;
  argument.name = name;
  argument.type_name = type;
  argument.index = index;
  argument.location = index;
  argument.size = size;
  argument.align = size;
  return argument;
}

KernelSpec spec(const std::string& name, schema::CpuRangeKind range, std::vector<Argument> arguments) {
  KernelSpec made;
  made.function.name = name;
  made.function.arguments = std::move(arguments);
  made.row.name = name;
  made.row.range = range;
  made.row.method = "by hand";
  return made;
}

}  // namespace

schema::CpuArch built_arch() {
#if defined(__x86_64__)
  return schema::CpuArch::x86_64;
#else
  return schema::CpuArch::aarch64;
#endif
}

uint32_t built_level() {
  return built_arch() == schema::CpuArch::x86_64 ? 3 : 0;
}

Bytes kernel_code(const std::string& name) {
  return must_read(std::filesystem::path(SMELT_TEST_KERNELS) / (name + ".bin"));
}

std::vector<KernelSpec> all_kernels() {
  constexpr auto threads = schema::CpuRangeKind::threads;
  constexpr auto groups = schema::CpuRangeKind::groups;
  std::vector<KernelSpec> all;
  all.push_back(spec("saxpy", threads, {buffer(0, "x", "float"), buffer(1, "y", "float"), buffer(2, "a", "float")}));
  all.push_back(spec("count", threads, {buffer(0, "counts", "uint")}));
  all.push_back(spec("count_groups", groups, {buffer(0, "counts", "uint"), buffer(1, "sizes", "uint")}));

  KernelSpec sum = spec("group_sum", groups, {buffer(0, "values", "uint"), buffer(1, "sums", "uint")});
  Argument dynamic = buffer(3, "dynamic", "uint");
  dynamic.kind = ArgumentKind::threadgroup;
  dynamic.address_space = 3;
  sum.function.arguments.push_back(dynamic);
  sum.function.threadgroup_bytes = 16;
  sum.function.max_threads = 256;
  sum.row.threadgroup_bytes = 16;
  sum.row.fixed_bytes = 16;
  sum.row.bytes_per_thread = 4;
  all.push_back(sum);

  KernelSpec constants = spec("constants", threads, {buffer(0, "out", "int", 4)});
  constants.function.constants = {{"size", "int", 0, true}, {"choice", "bool", 1, false}, {"scale", "float", 7, false}};
  constants.row.constants_bytes = 16;
  constants.row.constants = {{0, 0, 4, 14}, {1, 4, 1, 12}, {7, 8, 4, 13}};
  all.push_back(constants);

  KernelSpec histogram =
      spec("histogram", threads,
           {buffer(0, "values", "uint"), buffer(1, "bins", "atomic_uint"), buffer(2, "copies", "uint")});
  histogram.row.private_buffers = {{1, schema::CpuPrivateBuffer::Operation::add_i32}};
  all.push_back(histogram);
  all.push_back(spec("halve", threads, {buffer(0, "values", "float"), buffer(1, "half", "float")}));
  return all;
}

KernelSpec logging_kernel() {
  return spec("logs", schema::CpuRangeKind::threads, {buffer(0, "format", "char", 1), buffer(1, "half", "float")});
}

KernelSpec texture_kernel() {
  KernelSpec made = spec("invert", schema::CpuRangeKind::threads, {buffer(0, "state", "ulong", 8)});
  Argument texture;
  texture.name = "image";
  texture.type_name = "texture2d<float, read_write>";
  texture.kind = ArgumentKind::texture;
  texture.access = Access::read_write;
  Argument sampler;
  sampler.name = "by";
  sampler.type_name = "sampler";
  sampler.kind = ArgumentKind::sampler;
  sampler.index = sampler.location = 1;
  made.function.arguments.push_back(texture);
  made.function.arguments.push_back(sampler);
  return made;
}

KernelSpec tensor_kernel() {
  KernelSpec made = spec("doubled", schema::CpuRangeKind::threads, {});
  Argument tensor;
  tensor.name = "values";
  tensor.type_name = "tensor<float, dextents<int, 2>>";
  tensor.kind = ArgumentKind::other;
  tensor.access = Access::read_write;
  made.function.arguments.push_back(tensor);
  return made;
}

KernelSpec kernel_spec(const std::string& name) {
  for (KernelSpec& made : all_kernels())
    if (made.function.name == name) return made;
  throw std::runtime_error("no kernel " + name);
}

Bytes cpu_slice(const std::vector<KernelSpec>& kernels, schema::CpuArch arch, uint32_t level) {
  schema::CpuSlice slice;
  slice.arch = arch;
  slice.level = level;
  std::vector<Bytes> code;
  for (const KernelSpec& kernel : kernels) {
    slice.kernels.push_back(kernel.row);
    code.push_back(kernel_code(kernel.row.name));
  }
  return must(schema::write_cpu_slice(std::move(slice), code));
}

schema::Slice cpu_slice_entry(const schema::Library& library, Bytes bytes, schema::CpuArch arch, uint32_t level) {
  schema::Slice slice;
  slice.target = arch == schema::CpuArch::aarch64 ? "cpu-aarch64" : fmt::format("cpu-x86-64-v{}", level);
  slice.kind = schema::SliceKind::cpu;
  slice.arch = uint32_t(arch);
  slice.level = level;
  slice.bytes = std::move(bytes);
  slice.functions.resize(library.functions.size());
  return slice;
}

schema::Library kernel_library(const std::string& name, const std::vector<KernelSpec>& kernels) {
  schema::Library library;
  library.name = name;
  library.compiler = "by hand";
  library.source = sha256(as_bytes(name));
  for (const KernelSpec& kernel : kernels) library.functions.push_back(kernel.function);
  library.slices.push_back(
      cpu_slice_entry(library, cpu_slice(kernels, built_arch(), built_level()), built_arch(), built_level()));
  return library;
}

Bytes kernel_package(const std::vector<KernelSpec>& kernels) {
  return must(schema::write_package(std::vector{kernel_library("kernels", kernels)}));
}

}  // namespace smelt::test
