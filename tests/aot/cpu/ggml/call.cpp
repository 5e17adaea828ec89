// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "call.hpp"

#include "smelt/aot/compile.hpp"
#include "smelt/metallib/reader.hpp"

#include "files.hpp"
#include "ir_reader/parse.hpp"
#include "skips.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <future>

namespace smelt::test {
namespace {

struct Field {
  size_t offset = 0;
  size_t size = 0;
  size_t count = 1;
  std::string type;
};

std::string_view text_of(const llvm::MDNode& node, unsigned at) {
  const auto* text = at < node.getNumOperands() ? llvm::dyn_cast_or_null<llvm::MDString>(node.getOperand(at)) : nullptr;
  return text != nullptr ? std::string_view(text->getString()) : std::string_view();
}

size_t number_of(const llvm::MDNode& node, unsigned at) {
  return llvm::mdconst::extract<llvm::ConstantInt>(node.getOperand(at))->getZExtValue();
}

/// Fields of the struct that the argument node of [[buffer(0)]] describes: offset, size, array length, type, name each.
std::map<std::string, Field> struct_fields(const llvm::MDNode& argument) {
  std::map<std::string, Field> fields;
  for (unsigned i = 0; i + 1 < argument.getNumOperands(); ++i) {
    if (text_of(argument, i) != "air.struct_type_info") continue;
    const auto& info = *llvm::cast<llvm::MDNode>(argument.getOperand(i + 1));
    for (unsigned at = 0; at + 4 < info.getNumOperands(); at += 5)
      fields[std::string(text_of(info, at + 4))] = {number_of(info, at), number_of(info, at + 1),
                                                    std::max<size_t>(number_of(info, at + 2), 1),
                                                    std::string(text_of(info, at + 3))};
  }
  return fields;
}

template <class T>
void store_as(std::byte* at, double value) {
  const T typed = static_cast<T>(value);
  std::memcpy(at, &typed, sizeof(T));
}

void store_typed(const std::string& type, std::byte* at, double value) {
  if (type == "int" || type == "uint") return store_as<int32_t>(at, value);
  if (type == "long" || type == "ulong") return store_as<int64_t>(at, value);
  if (type == "short" || type == "ushort") return store_as<int16_t>(at, value);
  if (type == "bool") return store_as<uint8_t>(at, value);
  if (type == "float") return store_as<float>(at, value);
  throw std::runtime_error("a field of type " + type);
}

struct Ggml {
  Bytes image;
  metallib::Library library;
};

/// Apple's build, or the library that SMELT_GGML_LIBRARY names: one made of the same source by smelt, say.
const std::optional<Ggml>& ggml() {
  static const std::optional<Ggml> opened = []() -> std::optional<Ggml> {
    Ggml result;
    if (const char* own = std::getenv("SMELT_GGML_LIBRARY"); own != nullptr) {
      result.image = must_read(own);
    } else {
      const auto folder = corpus("llama.rn");
      if (!folder) return {};
      result.image = must_read(*folder / "cpp/ggml-metal/ggml-llama.metallib");
    }
    result.library = metallib::read(result.image).value();
    return result;
  }();
  return opened;
}

struct Way {
  std::string name;
  aot::CpuOptions options;
  bool rewrite = false;
  bool same_bits = false;  ///< as by the automatic way
};

/// Kernels whose fast code gives other bits than balanced code at one of the levels (docs/design/cpu-code.md, 5): sums
/// of products, which are contracted in the order that an optimiser leaves.
bool may_differ_by_effort(const std::string& kernel) {
  static const std::set<std::string> known = {"kernel_add_fuse_3",
                                              "kernel_mul_mv_bf16_bf16",
                                              "kernel_mul_mv_bf16_f32_4",
                                              "kernel_mul_mv_ext_f16_f32_r1_3",
                                              "kernel_mul_mv_ext_f32_f32_r1_2",
                                              "kernel_mul_mv_ext_q4_K_f32_r1_4",
                                              "kernel_mul_mv_ext_q6_K_f32_r1_4",
                                              "kernel_mul_mv_f16_f16_4",
                                              "kernel_mul_mv_f16_f32",
                                              "kernel_mul_mv_f16_f32_4",
                                              "kernel_mul_mv_f16_f32_short",
                                              "kernel_mul_mv_f32_f32",
                                              "kernel_mul_mv_f32_f32_4",
                                              "kernel_mul_mv_f32_f32_short",
                                              "kernel_mul_mv_id_f16_f32_4",
                                              "kernel_mul_mv_id_q4_0_f32",
                                              "kernel_mul_mv_iq4_nl_f32",
                                              "kernel_mul_mv_mxfp4_f32",
                                              "kernel_mul_mv_q4_0_f32",
                                              "kernel_mul_mv_q4_1_f32",
                                              "kernel_mul_mv_q4_K_f32",
                                              "kernel_mul_mv_q5_0_f32",
                                              "kernel_mul_mv_q5_1_f32",
                                              "kernel_mul_mv_q5_K_f32",
                                              "kernel_mul_mv_q6_K_f32",
                                              "kernel_norm_f32",
                                              "kernel_norm_mul_add_f32",
                                              "kernel_norm_mul_f32",
                                              "kernel_rope_neox_f16",
                                              "kernel_rope_neox_f32",
                                              "kernel_rope_norm_f32"};
  return known.contains(kernel);
}

/// Every way and level with SMELT_FULL; otherwise the usual way, and for half of the kernels one of the others.
/// SMELT_WAY names some of them, SMELT_LEVEL one level: compiling large kernels is what takes the time.
std::vector<Way> ways_of(const std::string& kernel) {
  uint32_t hash = 0;
  for (const char c : kernel) hash = hash * 31 + static_cast<unsigned char>(c);
  const char* const only = std::getenv("SMELT_WAY");
  const char* const only_level = std::getenv("SMELT_LEVEL");
  constexpr std::array<const char*, 8> kSamples = {"rewritten", "regions", "fast", "fast", "", "", "", ""};
  const std::string sampled = kSamples[hash / 7 % kSamples.size()];
  std::vector<Way> ways;
  for (const aot::CpuLevel level : runnable_levels()) {
    if (only_level != nullptr && to_string(level) != only_level) continue;
    for (const std::string way : {"automatic", "rewritten", "regions", "fast"}) {
      if (only != nullptr ? std::string_view(only).find(way) == std::string_view::npos
                          : !full() && way != "automatic" && way != sampled)
        continue;
      aot::CpuOptions options;
      options.level = level;
      if (way == "regions") options.method = aot::CpuMethod::regions;
      if (way == "fast") options.effort = aot::CpuEffort::fast;
      const bool same_bits = way == "rewritten" || (way == "fast" && !may_differ_by_effort(kernel));
      ways.push_back({way + " " + std::string(to_string(level)), options, way == "rewritten", same_bits});
    }
    if (!full()) break;
  }
  return ways;
}

}  // namespace

Bytes rewritten(const std::string& name, ByteView bitcode) {
  aot::CompileOptions options;
  options.targets = {aot::parse_target("ios18").value()};
  const aot::Source source{name, bitcode};
  auto compiled = aot::compile(std::span(&source, 1), options);
  if (!compiled) throw std::runtime_error(name + ": " + compiled.error().message);
  return compiled->targets.at(0).functions.at(0).bitcode;
}

struct Call::Kernel {
  std::map<std::string, Field> fields;
  size_t argument_bytes = 0;
  struct Constant {
    uint32_t index = 0;
    std::string type;
  };
  std::map<std::string, Constant> constants;
  std::vector<std::pair<Way, LoadedSlice>> slices;
};

bool full() {
  static const bool value = std::getenv("SMELT_FULL") != nullptr;
  return value;
}

bool wanted(const std::string& kernel, bool always) {
  if (const char* part = std::getenv("SMELT_KERNEL")) return kernel.find(part) != std::string::npos;
  return always || full();
}

bool have_ggml() {
  if (ggml()) return true;
  smelt::test::skipped("llama.rn is not in the corpus (scripts/fetch-corpus)");
  return false;
}

std::set<std::string>& compared_kernels() {
  static std::set<std::string> names;
  return names;
}

Call::Call(std::string kernel) : name_(std::move(kernel)) {
  static std::map<std::string, std::shared_ptr<Kernel>> known;
  std::shared_ptr<Kernel>& entry = known[name_];
  if (entry == nullptr) {
    const metallib::Function* function = ggml()->library.find(name_);
    if (function == nullptr) throw std::runtime_error("ggml has no " + name_);
    const ByteView bitcode = ggml()->library.module_of(*function).blob;
    auto made = std::make_shared<Kernel>();
    const auto module = aot::input::parse_module(bitcode, name_).value();
    const llvm::MDNode& node = *module.module->getNamedMetadata("air.kernel")->getOperand(0);
    for (const llvm::MDOperand& argument : llvm::cast<llvm::MDNode>(node.getOperand(2))->operands()) {
      auto fields = struct_fields(*llvm::cast<llvm::MDNode>(argument));
      if (!fields.empty()) made->fields = std::move(fields);
    }
    for (const auto& [name, field] : made->fields)
      made->argument_bytes = std::max(made->argument_bytes, field.offset + field.size * field.count);
    made->argument_bytes = (made->argument_bytes + 7) / 8 * 8;
    const auto described = aot::describe(bitcode, name_).value();
    for (const aot::ConstantInfo& constant : described.at(0).constants)
      made->constants[constant.name] = {constant.index, constant.type_name};

    const auto build = [this, bitcode](const Way& way) {
      return compile_one(name_, way.rewrite ? ByteView(rewritten(name_, bitcode)) : bitcode, way.options);
    };
    std::vector<std::future<LoadedSlice>> building;
    const std::vector<Way> ways = ways_of(name_);
    for (const Way& way : ways) building.push_back(std::async(std::launch::async, build, way));
    for (size_t i = 0; i < ways.size(); ++i) made->slices.emplace_back(ways[i], building[i].get());
    entry = std::move(made);
  }
  kernel_ = entry;
  arguments_.assign(kernel_->argument_bytes, std::byte{0x7b});
}

Call::~Call() = default;

Call& Call::set(const std::string& field, double value, size_t element) {
  const auto found = kernel_->fields.find(field);
  if (found == kernel_->fields.end()) throw std::runtime_error(name_ + " has no field " + field);
  if (element >= found->second.count) throw std::runtime_error(name_ + ": element of " + field);
  store_typed(found->second.type, arguments_.data() + found->second.offset + element * found->second.size, value);
  return *this;
}

Call& Call::describe(const std::string& n, const Tensor& tensor) {
  for (size_t i = 0; i < 4; ++i) {
    const std::string which = n + std::to_string(i);
    if (kernel_->fields.contains("ne" + which)) set("ne" + which, static_cast<double>(tensor.ne()[i]));
    if (kernel_->fields.contains("nb" + which)) set("nb" + which, static_cast<double>(tensor.nb()[i]));
  }
  return *this;
}

Call& Call::in(uint32_t slot, const Tensor& tensor) {
  inputs_.insert_or_assign(slot, tensor);
  return *this;
}

Call& Call::out(uint32_t slot, const Tensor& tensor) {
  outputs_.insert_or_assign(slot, tensor);
  return *this;
}

Call& Call::same(uint32_t slot, uint32_t other) {
  aliases_[slot] = other;
  return *this;
}

Call& Call::threadgroup(uint32_t slot, uint32_t bytes) {
  launch_.threadgroup_bytes[slot] = bytes;
  return *this;
}

Call& Call::constant(const std::string& name, int64_t value) {
  const auto found = kernel_->constants.find(name);
  if (found == kernel_->constants.end()) return *this;  // kernels of one family do not use all of its constants
  std::vector<std::byte>& bytes = launch_.constants[found->second.index];
  const std::string& type = found->second.type;
  bytes.resize(type == "bool" ? 1 : type == "short" ? 2 : 4);
  store_typed(type, bytes.data(), static_cast<double>(value));
  return *this;
}

Call& Call::groups(Size3 groups, Size3 threads) {
  for (size_t i = 0; i < 3; ++i) launch_.grid[i] = groups[i] * threads[i];
  launch_.group = threads;
  return *this;
}

Call::Outcome Call::run_one(const std::string& way, const LoadedSlice& slice) {
  Outcome outcome{way, outputs_};
  Launch launch = launch_;
  std::map<uint32_t, Tensor> inputs = inputs_;
  if (!arguments_.empty()) launch.bind(0, arguments_);
  for (auto& [slot, tensor] : inputs) launch.bind(slot, tensor.bytes());
  for (auto& [slot, tensor] : outcome.outputs) launch.bind(slot, tensor.bytes());
  for (const auto& [slot, other] : aliases_) launch.buffers[slot] = launch.buffers.at(other);
  slice.run(name_, launch);
  return outcome;
}

Call& Call::run() {
  outcomes_.clear();
  for (const auto& [way, slice] : kernel_->slices) {
    INFO(name_, " by ", way.name, ", ", slice.find(name_)->method);
    outcomes_.push_back(run_one(way.name, slice));
    if (!way.same_bits) continue;
    const std::string usual = "automatic" + way.name.substr(way.name.find(' '));  // at the same level
    for (const Outcome& original : outcomes_)
      if (original.way == usual)
        for (const auto& [slot, tensor] : outcomes_.back().outputs)
          CHECK_MESSAGE(tensor.bytes() == original.outputs.at(slot).bytes(), "not the same bits in buffer ", slot);
  }
  return *this;
}

const Tensor& Call::result(uint32_t slot) const {
  return outcomes_.at(0).outputs.at(slot);
}

void Call::expect(uint32_t slot, const std::function<double(int64_t, int64_t, int64_t, int64_t)>& want,
                  Tolerance tolerance) const {
  for (const Outcome& outcome : outcomes_) {
    const Tensor& got = outcome.outputs.at(slot);
    size_t wrong = 0;
    std::string first;
    double worst = 0;
    got.each([&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
      const double wanted = want(i0, i1, i2, i3);
      const double value = got.at(i0, i1, i2, i3);
      const double allowed = tolerance.absolute + tolerance.relative * std::fabs(wanted);
      if (value == wanted || (std::isnan(value) && std::isnan(wanted))) return;
      worst = std::max(worst, std::fabs(value - wanted) / allowed);
      if (std::fabs(value - wanted) <= allowed) return;
      if (wrong++ == 0) first = fmt::format("[{}, {}, {}, {}] is {}, want {}", i0, i1, i2, i3, value, wanted);
    });
    CHECK_MESSAGE(wrong == 0, name_, " by ", outcome.way, ": ", wrong, " of ", got.count(), " wrong; ", first);
    if (full()) MESSAGE(name_, " by ", outcome.way, ": largest error ", worst, " of what is allowed");
  }
  compared_kernels().insert(name_);
}

}  // namespace smelt::test
