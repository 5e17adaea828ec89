// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries, functions with constants, pipelines and what they say about themselves.
#include "program.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>

using namespace program;

namespace {

constexpr const char* kConstants = R"(
#include <metal_stdlib>
using namespace metal;
constant uint factor [[function_constant(0)]];
constant float2 pair [[function_constant(1)]];
constant bool has_extra [[function_constant(2)]];
constant int extra [[function_constant(3)]];
constant bool extra_is_set = is_function_constant_defined(extra);
constant bool with_offset = is_function_constant_defined(has_extra) && has_extra;
kernel void fill(device float* out [[buffer(0)]], constant float& offset [[buffer(1), function_constant(with_offset)]],
                 uint i [[thread_position_in_grid]]) {
  out[i] = float(factor) * pair.x + pair.y + (extra_is_set ? float(extra) : 0.0f) + (with_offset ? offset : 0.0f);
}
)";

MTL::Library* compiled(const char* source, const MTL::CompileOptions* options, NS::Error** error) {
  return device()->newLibrary(text(source), options, error);
}

/// Runs a kernel with one buffer of one number.
float run_one(MTL::Function* function, const float* offset = nullptr) {
  NS::Error* error = nullptr;
  const auto state = NS::TransferPtr(device()->newComputePipelineState(function, &error));
  REQUIRE_MESSAGE(state, text(error));
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto out = buffer<float>({-1});
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(out.get(), 0, 0);
  if (offset != nullptr) encoder->setBytes(offset, sizeof(*offset), 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  REQUIRE_MESSAGE(commands->status() == MTL::CommandBufferStatusCompleted, text(commands->error()));
  return values<float>(out.get())[0];
}

std::filesystem::path scratch() {
  const std::filesystem::path folder = std::filesystem::path(SMELT_BINARY_DIR) / "tests/metal/scratch";
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace

TEST_CASE("function constants by index, by name, of vectors, left out, unknown") {
  const Pool pool;
  MTL::Library* const from = library(kConstants);
  const auto set = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  const uint32_t factor = 3;
  const float pair[2] = {10, 0.5};
  set->setConstantValue(&factor, MTL::DataTypeUInt, NS::UInteger{0});
  set->setConstantValue(pair, MTL::DataTypeFloat2, text("pair"));
  const int32_t unknown = 1;
  set->setConstantValue(&unknown, MTL::DataTypeInt, NS::UInteger{77});  // no such constant: passed over
  NS::Error* error = nullptr;
  const auto plain = NS::TransferPtr(from->newFunction(text("fill"), set.get(), &error));
  REQUIRE_MESSAGE(plain, text(error));
  CHECK(run_one(plain.get()) == 30.5f);
  // Values are taken when the function is made.
  const int32_t extra = -7;
  set->setConstantValue(&extra, MTL::DataTypeInt, NS::UInteger{3});
  const auto more = NS::TransferPtr(from->newFunction(text("fill"), set.get(), &error));
  CHECK(run_one(plain.get()) == 30.5f);
  CHECK(run_one(more.get()) == 23.5f);
  const bool yes = true;
  const float offset = 100;
  set->setConstantValues(&yes, MTL::DataTypeBool, NS::Range::Make(2, 1));
  const auto descriptor = NS::TransferPtr(MTL::FunctionDescriptor::alloc()->init());
  descriptor->setName(text("fill"));
  descriptor->setSpecializedName(text("fill_all"));
  descriptor->setConstantValues(set.get());
  set->reset();
  const auto all = NS::TransferPtr(from->newFunction(descriptor.get(), &error));
  CHECK(text(all->name()) == "fill_all");
  CHECK(run_one(all.get(), &offset) == 123.5f);
}

TEST_CASE("a needed constant without a value is 0; strictly, and without any values, it is an error") {
  const Pool pool;
  MTL::Library* const from = library(kConstants);
  const auto set = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  const float pair[2] = {10, 0.5};
  set->setConstantValue(pair, MTL::DataTypeFloat2, NS::UInteger{1});
  const auto lacks = NS::TransferPtr(from->newFunction(text("fill"), set.get(), nullptr));
  CHECK(run_one(lacks.get()) == 0.5f);
  ::setenv("SMELT_METAL_CONSTANTS", "strict", 1);
  NS::Error* error = nullptr;
  const auto refused = NS::TransferPtr(device()->newComputePipelineState(lacks.get(), &error));
  ::unsetenv("SMELT_METAL_CONSTANTS");
  CHECK_FALSE(refused);
  REQUIRE(error != nullptr);
  CHECK(text(error).find("'factor' (#0)") != std::string::npos);
  CHECK(text(error->domain()) == "MTLLibraryErrorDomain");
  const auto none = NS::TransferPtr(from->newFunction(text("fill")));
  REQUIRE(none);
  CHECK_FALSE(NS::TransferPtr(device()->newComputePipelineState(none.get(), &error)));
  CHECK(text(error).find("factor") != std::string::npos);
}

TEST_CASE("a constant that is missing is not defined, although it has a value") {
  const Pool pool;
  const auto made = NS::TransferPtr(compiled(R"(
    constant int extra [[function_constant(3)]];
    constant bool is_set = is_function_constant_defined(extra);
    kernel void tell(device float* out [[buffer(0)]]) { out[0] = is_set ? 100.0f + float(extra) : 5.0f + float(extra); }
    )",
                                             nullptr, nullptr));
  const auto set = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  CHECK(run_one(NS::TransferPtr(made->newFunction(text("tell"), set.get(), nullptr)).get()) == 5.0f);
  const int32_t zero = 0;
  set->setConstantValue(&zero, MTL::DataTypeInt, NS::UInteger{3});
  CHECK(run_one(NS::TransferPtr(made->newFunction(text("tell"), set.get(), nullptr)).get()) == 100.0f);
}

TEST_CASE("functions say which constants they have") {
  const Pool pool;
  const auto function = NS::TransferPtr(library(kConstants)->newFunction(text("fill")));
  CHECK(function->functionType() == MTL::FunctionTypeKernel);
  CHECK(function->device() == device());
  NS::Dictionary* const constants = function->functionConstantsDictionary();
  auto* const pair = constants->object<MTL::FunctionConstant>(text("pair"));
  REQUIRE(pair != nullptr);
  CHECK(pair->index() == 1);
  CHECK(pair->type() == MTL::DataTypeFloat2);
  CHECK(constants->object<MTL::FunctionConstant>(text("has_extra"))->type() == MTL::DataTypeBool);
}

TEST_CASE("compile options: macros, language, math") {
  const Pool pool;
  constexpr const char* kSource = R"(
    kernel void tell(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      out[i] = VALUE + __METAL_VERSION__ + NUMBER;
    })";
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  CHECK(options->fastMathEnabled());
  const NS::Object* const keys[] = {text("VALUE"), text("NUMBER")};
  const NS::Object* const macros[] = {text("0.25f"), NS::Number::number(1000)};
  options->setPreprocessorMacros(NS::Dictionary::dictionary(macros, keys, 2));
  options->setLanguageVersion(MTL::LanguageVersion3_0);
  options->setFastMathEnabled(false);
  CHECK(options->mathMode() == MTL::MathModeSafe);
  CHECK_FALSE(options->enableLogging());
  options->setEnableLogging(true);
  CHECK(options->enableLogging());
  NS::Error* error = nullptr;
  const auto made = NS::TransferPtr(compiled(kSource, options.get(), &error));
  REQUIRE_MESSAGE(made, text(error));
  CHECK(run_one(NS::TransferPtr(made->newFunction(text("tell"))).get()) == 1300.25f);
  const auto copy = NS::TransferPtr(options->copy());
  copy->setLanguageVersion(MTL::LanguageVersion3_1);
  CHECK(options->languageVersion() == MTL::LanguageVersion3_0);
  const auto newer = NS::TransferPtr(compiled(kSource, copy.get(), &error));
  CHECK(run_one(NS::TransferPtr(newer->newFunction(text("tell"))).get()) == 1310.25f);
  options->setLibraryType(MTL::LibraryTypeDynamic);
  CHECK_FALSE(NS::TransferPtr(compiled(kSource, options.get(), &error)));
  CHECK(error->code() == MTL::LibraryErrorUnsupported);
}

TEST_CASE("masks of infinity survive fast math, which is the default") {
  const Pool pool;
  const auto made = NS::TransferPtr(compiled(R"(
    #include <metal_stdlib>
    kernel void tell(device float* out [[buffer(0)]]) {
      float most = -INFINITY;
      for (int i = 0; i < 3; ++i) most = metal::max(most, -INFINITY);
      out[0] = metal::exp(most) + 4.0f;
    })",
                                             nullptr, nullptr));
  CHECK(run_one(NS::TransferPtr(made->newFunction(text("tell"))).get()) == 4.0f);
}

TEST_CASE("errors of libraries name the place") {
  const Pool pool;
  NS::Error* error = nullptr;
  CHECK_FALSE(NS::TransferPtr(compiled("kernel void broken(device float* x) { x[0] = nothing; }", nullptr, &error)));
  REQUIRE(error != nullptr);
  CHECK(error->code() == MTL::LibraryErrorCompileFailure);
  CHECK(text(error->domain()) == "MTLLibraryErrorDomain");
  CHECK(text(error).find("nothing") != std::string::npos);
  CHECK(text(error).find("program_source:1:") != std::string::npos);
  CHECK(library(kKernels)->newFunction(text("no_such")) == nullptr);
  const auto values_of_none = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  CHECK(library(kKernels)->newFunction(text("saxpi"), values_of_none.get(), &error) == nullptr);
  CHECK(error->code() == MTL::LibraryErrorFunctionNotFound);
  CHECK(text(error).find("saxpy") != std::string::npos);  // a near name
  const NS::URL* const nowhere = NS::URL::fileURLWithPath(text("/no/such/file.metallib"));
  CHECK(device()->newLibrary(nowhere, &error) == nullptr);
  CHECK(error->code() == MTL::LibraryErrorFileNotFound);
  const char junk[] = "MTLB and then nothing that makes sense";
  CHECK(device()->newLibrary(NS::Data::data(junk, sizeof(junk)), &error) == nullptr);
  CHECK(error->localizedDescription() != nullptr);
}

TEST_CASE("a library says what is in it; labels") {
  const Pool pool;
  MTL::Library* const from = library(kKernels);
  const NS::Array* const names = from->functionNames();
  CHECK(names->count() == 6);
  bool has_saxpy = false;
  for (NS::UInteger i = 0; i < names->count(); ++i) has_saxpy |= text(names->object<NS::String>(i)) == "saxpy";
  CHECK(has_saxpy);
  from->setLabel(text("kernels of the tests"));
  CHECK(text(from->label()) == "kernels of the tests");
  CHECK(from->type() == MTL::LibraryTypeExecutable);
}

TEST_CASE("handlers get libraries and pipelines") {
  const Pool pool;
  std::promise<NS::SharedPtr<MTL::Library>> made;
  device()->newLibrary(text(kKernels), nullptr, [&](MTL::Library* library, NS::Error* error) {
    CHECK(error == nullptr);
    made.set_value(NS::RetainPtr(library));
  });
  const auto library = made.get_future().get();
  REQUIRE(library);
  std::promise<std::string> failed;
  device()->newLibrary(text("kernel void"), nullptr,
                       [&](MTL::Library* none, NS::Error* error) { failed.set_value(none ? "" : text(error)); });
  CHECK(failed.get_future().get() != "");
  const auto function = NS::TransferPtr(library->newFunction(text("saxpy")));
  std::promise<NS::UInteger> bindings;
  device()->newComputePipelineState(
      function.get(), MTL::PipelineOptionBindingInfo,
      [&](MTL::ComputePipelineState* state, MTL::ComputePipelineReflection* reflection, NS::Error*) {
        bindings.set_value(state != nullptr ? reflection->bindings()->count() : 0);
      });
  CHECK(bindings.get_future().get() == 3);
  std::promise<bool> plain;
  device()->newComputePipelineState(
      function.get(), [&](MTL::ComputePipelineState* state, NS::Error*) { plain.set_value(state != nullptr); });
  CHECK(plain.get_future().get());
}

TEST_CASE("reflection") {
  const Pool pool;
  const auto function = NS::TransferPtr(library(kKernels)->newFunction(text("sum_groups")));
  MTL::ComputePipelineReflection* reflection = nullptr;
  const auto state = NS::TransferPtr(
      device()->newComputePipelineState(function.get(), MTL::PipelineOptionBindingInfo, &reflection, nullptr));
  REQUIRE(state);
  REQUIRE(reflection != nullptr);
  const NS::Array* const bindings = reflection->bindings();
  REQUIRE(bindings->count() == 3);
  const auto* const x = bindings->object<MTL::BufferBinding>(0);
  CHECK(text(x->name()) == "x");
  CHECK(x->type() == MTL::BindingTypeBuffer);
  CHECK(x->access() == MTL::BindingAccessReadOnly);
  CHECK(x->bufferDataType() == MTL::DataTypeUInt);
  CHECK(x->bufferDataSize() == 4);
  CHECK(x->bufferAlignment() == 4);
  CHECK(x->used());
  const auto* const sums = bindings->object<MTL::BufferBinding>(1);
  CHECK(sums->access() != MTL::BindingAccessReadOnly);
  CHECK(sums->index() == 1);
  const auto* const part = bindings->object<MTL::ThreadgroupBinding>(2);
  CHECK(part->type() == MTL::BindingTypeThreadgroupMemory);
  CHECK(text(part->name()) == "part");
  CHECK(text(reflection->arguments()->object<MTL::Argument>(1)->name()) == "sums");
  CHECK(state->threadExecutionWidth() == 32);
  CHECK(state->maxTotalThreadsPerThreadgroup() == 1024);
  CHECK(state->staticThreadgroupMemoryLength() == 0);
  CHECK(state->device() == device());
}

TEST_CASE("limits of a pipeline") {
  const Pool pool;
  const auto made = pipeline(R"(
    #include <metal_stdlib>
    using namespace metal;
    [[max_total_threads_per_threadgroup(128)]]
    kernel void limited(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      threadgroup uint part[64];
      part[i % 64] = i;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[i] = part[(i + 1) % 64];
    })",
                             "limited");
  CHECK(made->maxTotalThreadsPerThreadgroup() == 128);
  CHECK(made->staticThreadgroupMemoryLength() == 256);
  const auto function = NS::TransferPtr(library(kKernels)->newFunction(text("saxpy")));
  const auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function.get());
  descriptor->setMaxTotalThreadsPerThreadgroup(96);
  descriptor->setLabel(text("ninety-six"));
  const auto state =
      NS::TransferPtr(device()->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, nullptr));
  CHECK(state->maxTotalThreadsPerThreadgroup() == 96);
  CHECK(text(state->label()) == "ninety-six");
  NS::Error* error = nullptr;
  descriptor->setSupportIndirectCommandBuffers(true);
  CHECK(device()->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, &error) == nullptr);
  CHECK(text(error).find("supportIndirectCommandBuffers") != std::string::npos);
}

TEST_CASE("a binary archive keeps kernels in a file") {
  const Pool pool;
  const std::string path = (scratch() / "archive.smelt").string();
  std::filesystem::remove(path);
  const auto function = NS::TransferPtr(library(kKernels)->newFunction(text("add_one")));
  const auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function.get());
  const auto empty = NS::TransferPtr(MTL::BinaryArchiveDescriptor::alloc()->init());
  NS::Error* error = nullptr;
  const auto archive = NS::TransferPtr(device()->newBinaryArchive(empty.get(), &error));
  REQUIRE_MESSAGE(archive, text(error));
  descriptor->setBinaryArchives(NS::Array::array(archive.get()));
  constexpr MTL::PipelineOption kOnly = MTL::PipelineOptionFailOnBinaryArchiveMiss;
  CHECK(device()->newComputePipelineState(descriptor.get(), kOnly, nullptr, &error) == nullptr);
  REQUIRE_MESSAGE(archive->addComputePipelineFunctions(descriptor.get(), &error), text(error));
  CHECK(NS::TransferPtr(device()->newComputePipelineState(descriptor.get(), kOnly, nullptr, &error)));
  const NS::URL* const url = NS::URL::fileURLWithPath(text(path));
  REQUIRE_MESSAGE(archive->serializeToURL(url, &error), text(error));

  empty->setUrl(url);
  const auto again = NS::TransferPtr(device()->newBinaryArchive(empty.get(), &error));
  REQUIRE_MESSAGE(again, text(error));
  descriptor->setBinaryArchives(NS::Array::array(again.get()));
  CHECK(NS::TransferPtr(device()->newComputePipelineState(descriptor.get(), kOnly, nullptr, &error)));
  descriptor->setComputeFunction(NS::TransferPtr(library(kKernels)->newFunction(text("double_it"))).get());
  CHECK(device()->newComputePipelineState(descriptor.get(), kOnly, nullptr, &error) == nullptr);
  CHECK(text(error).find("double_it") != std::string::npos);

  // Every prefix of the file is refused, none crashes.
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  for (size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 97) {
    const std::string cut = (scratch() / "cut.smelt").string();
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, length);
    empty->setUrl(NS::URL::fileURLWithPath(text(cut)));
    CHECK(device()->newBinaryArchive(empty.get(), &error) == nullptr);
    CHECK(error->code() == MTL::BinaryArchiveErrorInvalidFile);
  }
}

TEST_CASE("libraries from files, bytes and the default place: Metal libraries and packages") {
  const Pool pool;
  const std::filesystem::path folder = scratch();
  std::ofstream(folder / "tell.metal") << "kernel void tell(device float* out [[buffer(0)]]) { out[0] = 12.5f; }\n";
  const std::string tool = SMELT_BINARY_DIR "/bin/smelt compile ";
  for (const char* const name : {"tell.metallib", "tell.smelt"}) {
    CAPTURE(name);
    const std::string path = (folder / name).string();
    REQUIRE(std::system((tool + (folder / "tell.metal").string() + " -o " + path).c_str()) == 0);
    NS::Error* error = nullptr;
    const auto by_url = NS::TransferPtr(device()->newLibrary(NS::URL::fileURLWithPath(text(path)), &error));
    REQUIRE_MESSAGE(by_url, text(error));
    CHECK(run_one(NS::TransferPtr(by_url->newFunction(text("tell"))).get()) == 12.5f);
    const auto by_path = NS::TransferPtr(device()->newLibrary(text(path), &error));
    CHECK(text(by_path->functionNames()->object<NS::String>(0)) == "tell");
    std::ifstream in(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const auto by_data = NS::TransferPtr(device()->newLibrary(NS::Data::data(bytes.data(), bytes.size()), &error));
    REQUIRE_MESSAGE(by_data, text(error));
    CHECK(run_one(NS::TransferPtr(by_data->newFunction(text("tell"))).get()) == 12.5f);
    ::setenv("SMELT_METAL_LIBRARY", path.c_str(), 1);
    const auto by_default = NS::TransferPtr(device()->newDefaultLibrary());
    ::unsetenv("SMELT_METAL_LIBRARY");
    REQUIRE(by_default);
    CHECK(run_one(NS::TransferPtr(by_default->newFunction(text("tell"))).get()) == 12.5f);
    // Cut anywhere, a file is refused or says less; nothing crashes.
    for (size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 61) {
      const auto cut = NS::TransferPtr(device()->newLibrary(NS::Data::data(bytes.data(), length), &error));
      CHECK((cut || error != nullptr));
    }
  }
  NS::Error* error = nullptr;
  CHECK(device()->newDefaultLibrary() == nullptr);
  CHECK(device()->newDefaultLibrary(NS::Bundle::mainBundle(), &error) == nullptr);
  CHECK(text(error).find("SMELT_METAL_LIBRARY") != std::string::npos);
}

TEST_CASE("a threadgroup argument without a length, which the kernel hands on and never uses") {
  const Pool pool;
  const auto state = pipeline(R"(
    #include <metal_stdlib>
    using namespace metal;
    template <bool kUses> void work(device float* out, threadgroup float* part, uint i) {
      if (kUses) { part[i] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = part[i ^ 1]; }
      else out[i] = 3;
    }
    [[host_name("without")]] kernel void without(device float* out [[buffer(0)]], threadgroup float* part [[threadgroup(0)]],
                                                uint i [[thread_position_in_threadgroup]]) { work<false>(out, part, i); }
  )",
                              "without");
  const auto queue = NS::TransferPtr(device()->newCommandQueue());
  const auto out = buffer<float>({0, 0});
  MTL::CommandBuffer* const commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(state.get());
  encoder->setBuffer(out.get(), 0, 0);
  encoder->setThreadgroupMemoryLength(0, 0);
  encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(2, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  CHECK_MESSAGE(commands->status() == MTL::CommandBufferStatusCompleted, text(commands->error()));
  CHECK(values<float>(out.get()) == std::vector<float>{3, 3});
}

TEST_CASE("an argument that function constants take away may be read, to no effect") {
  const Pool pool;
  MTL::Library* const from = library(R"(
    struct Facts { float scale, offset; };
    constant bool has_facts [[function_constant(0)]];
    constant bool has_none = !has_facts;
    kernel void tell(device float* out [[buffer(0)]], const constant Facts* facts [[buffer(1), function_constant(has_facts)]],
                     const device float* more [[buffer(2), function_constant(has_facts)]]) {
      const float scale = facts->scale, offset = facts->offset, first = more[0];
      out[0] = has_none ? out[0] + 10.0f : scale * out[0] + offset + first;
    })");
  for (const bool has_facts : {false, true}) {
    const auto set = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    set->setConstantValue(&has_facts, MTL::DataTypeBool, NS::UInteger{0});
    NS::Error* error = nullptr;
    const auto function = NS::TransferPtr(from->newFunction(text("tell"), set.get(), &error));
    REQUIRE_MESSAGE(function, text(error));
    const auto state = NS::TransferPtr(device()->newComputePipelineState(function.get(), &error));
    REQUIRE_MESSAGE(state, text(error));
    const auto queue = NS::TransferPtr(device()->newCommandQueue());
    const auto out = buffer<float>({1});
    const float facts[2] = {2, 3}, more = 0.5f;
    MTL::CommandBuffer* const commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->setBuffer(out.get(), 0, 0);
    encoder->setBytes(facts, 4, 1);  // as another kernel would have it
    if (has_facts) {
      encoder->setBytes(facts, sizeof(facts), 1);
      encoder->setBytes(&more, sizeof(more), 2);
    }
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    REQUIRE_MESSAGE(commands->status() == MTL::CommandBufferStatusCompleted, text(commands->error()));
    CHECK(values<float>(out.get())[0] == (has_facts ? 5.5f : 11.0f));
  }
}
