// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visible functions in the C++ interface: linked to pipelines, put into tables, called, and misused.
#include "program.hpp"

#include <doctest/doctest.h>

using namespace program;

namespace {

const char* const kSource = R"(
#include <metal_stdlib>
using namespace metal;
using Step = float(float, uint);
[[visible]] float add(float x, uint i) { return x + i; }
[[visible]] float scale(float x, uint i) { return x * i; }
[[visible]] float hidden(float x, uint i) { return x - i; }
[[visible]] int other(int x) { return x; }
constant float factor [[function_constant(0)]];
[[visible]] float scaled(float x, uint i) { return x * factor; }
kernel void apply(device float* x [[buffer(0)]], visible_function_table<Step> table [[buffer(1)]],
                  constant uint& which [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  x[i] = table[which](x[i], i);
}
kernel void facts(device uint* out [[buffer(0)]], visible_function_table<Step> table [[buffer(30)]]) {
  out[0] = is_null_visible_function_table(table);
  out[1] = table.size();
}
kernel void plain(device float* x [[buffer(0)]], device float* y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  x[i] = y[i];
}
)";

NS::SharedPtr<MTL::Function> function(const char* name, MTL::Library* of = library(kSource)) {
  return NS::TransferPtr(of->newFunction(text(name)));
}

/// A pipeline with functions linked to it; null, with the error's words, where there is none.
struct Linked {
  NS::SharedPtr<MTL::Function> kernel;
  std::vector<NS::SharedPtr<MTL::Function>> functions;
  NS::SharedPtr<MTL::ComputePipelineState> state;
  std::string error;

  Linked(const char* name, const std::vector<NS::SharedPtr<MTL::Function>>& visible,
         const std::vector<NS::SharedPtr<MTL::Function>>& without_handle = {})
      : kernel(function(name)), functions(visible) {
    auto linked = NS::TransferPtr(MTL::LinkedFunctions::alloc()->init());
    linked->setFunctions(array(visible));
    linked->setPrivateFunctions(array(without_handle));
    auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
    descriptor->setComputeFunction(kernel.get());
    descriptor->setLinkedFunctions(linked.get());
    NS::Error* trouble = nullptr;
    state = NS::TransferPtr(
        device()->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, &trouble));
    error = text(trouble);
  }
  static NS::Array* array(const std::vector<NS::SharedPtr<MTL::Function>>& functions) {
    std::vector<const NS::Object*> objects;
    for (const auto& one : functions) objects.push_back(one.get());
    return NS::Array::array(objects.data(), objects.size());
  }
  NS::SharedPtr<MTL::VisibleFunctionTable> table(NS::UInteger count) const {
    auto descriptor = NS::TransferPtr(MTL::VisibleFunctionTableDescriptor::alloc()->init());
    descriptor->setFunctionCount(count);
    return NS::TransferPtr(state->newVisibleFunctionTable(descriptor.get()));
  }
  MTL::FunctionHandle* handle(size_t number) const { return state->functionHandle(functions[number].get()); }
};

struct Run {
  NS::SharedPtr<MTL::CommandQueue> queue = NS::TransferPtr(device()->newCommandQueue());
  MTL::CommandBuffer* buffer = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = buffer->computeCommandEncoder();

  void apply(const Linked& pipeline, MTL::Buffer* x, const MTL::VisibleFunctionTable* table, uint32_t which) {
    encoder->setComputePipelineState(pipeline.state.get());
    encoder->setBuffer(x, 0, 0);
    encoder->setVisibleFunctionTable(table, 1);
    encoder->setBytes(&which, sizeof which, 2);
    encoder->dispatchThreads({4, 1, 1}, {4, 1, 1});
  }
  std::string end() {
    encoder->endEncoding();
    buffer->commit();
    buffer->waitUntilCompleted();
    return text(buffer->error());
  }
};

bool has(const std::string& whole, const std::string& part) {
  return whole.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("each entry of a table is called, and an entry may be changed between command buffers") {
  const Pool pool;
  CHECK(device()->supportsFunctionPointers());
  const Linked pipeline("apply", {function("add"), function("scale")}, {function("hidden")});
  REQUIRE_MESSAGE(pipeline.state, pipeline.error);
  CHECK(text(pipeline.handle(1)->name()) == "scale");
  CHECK(pipeline.handle(1)->functionType() == MTL::FunctionTypeVisible);
  CHECK(pipeline.handle(1)->device() == device());
  CHECK(pipeline.state->functionHandle(function("hidden").get()) == nullptr);
  const auto table = pipeline.table(3);
  REQUIRE(table);
  table->setLabel(text("steps"));
  CHECK(text(table->label()) == "steps");
  CHECK(table->device() == device());
  const MTL::FunctionHandle* both[] = {pipeline.handle(0), pipeline.handle(1)};
  table->setFunctions(both, NS::Range::Make(1, 2));
  const auto x = buffer<float>({1, 2, 3, 4});
  Run first;
  first.apply(pipeline, x.get(), table.get(), 1);
  first.apply(pipeline, x.get(), table.get(), 2);
  REQUIRE(first.end() == "");
  CHECK(values<float>(x.get()) == std::vector<float>{0, 3, 10, 21});
  table->setFunction(pipeline.handle(0), 0);
  Run second;
  second.apply(pipeline, x.get(), table.get(), 0);
  REQUIRE(second.end() == "");
  CHECK(values<float>(x.get()) == std::vector<float>{0, 4, 12, 24});
}

TEST_CASE("a called entry that is empty or of another type is the command buffer's error") {
  const Pool pool;
  const Linked pipeline("apply", {function("add"), function("other")});
  REQUIRE_MESSAGE(pipeline.state, pipeline.error);
  const auto table = pipeline.table(2);
  table->setFunction(pipeline.handle(1), 1);
  const auto x = buffer<float>({1, 2, 3, 4});
  for (const uint32_t which : {0, 1, 2}) {
    Run run;
    run.apply(pipeline, x.get(), table.get(), which);
    const std::string error = run.end();
    CHECK_MESSAGE(has(error, "function table"), error);
  }
  table->setFunction(pipeline.handle(0), 0);
  table->setFunction(nullptr, 0);
  Run run;
  run.apply(pipeline, x.get(), table.get(), 0);
  CHECK(has(run.end(), "function table"));
}

TEST_CASE("the null table, sizes, and what a pipeline says of its table") {
  const Pool pool;
  const Linked pipeline("facts", {function("add")});
  REQUIRE_MESSAGE(pipeline.state, pipeline.error);
  const NS::Array* bindings = pipeline.state->reflection()->bindings();
  REQUIRE(bindings->count() == 2);
  const auto* binding = bindings->object<MTL::Binding>(1);
  CHECK(binding->type() == MTL::BindingTypeVisibleFunctionTable);
  CHECK(binding->index() == 30);
  CHECK(text(binding->name()) == "table");
  for (const bool null : {true, false}) {
    const auto out = buffer<uint32_t>({7, 7}), table = NS::SharedPtr<MTL::Buffer>();
    const auto five = pipeline.table(5);
    Run run;
    run.encoder->setComputePipelineState(pipeline.state.get());
    run.encoder->setBuffer(out.get(), 0, 0);
    const MTL::VisibleFunctionTable* given[] = {null ? nullptr : five.get()};
    run.encoder->setVisibleFunctionTables(given, NS::Range::Make(30, 1));
    run.encoder->dispatchThreads({1, 1, 1}, {1, 1, 1});
    REQUIRE(run.end() == "");
    CHECK(values<uint32_t>(out.get()) == (null ? std::vector<uint32_t>{1, 0} : std::vector<uint32_t>{0, 5}));
  }
}

TEST_CASE("functions of a finished Metal library are linked, those from another library are not") {
  const Pool pool;
  const Linked of_other("apply", {function("add", library(std::string(kSource) + "// another"))});
  CHECK(!of_other.state);
  CHECK_MESSAGE(has(of_other.error, "from another library"), of_other.error);
  const Linked of_kernel("apply", {function("plain")});
  CHECK_MESSAGE(has(of_kernel.error, "'plain' is a kernel function"), of_kernel.error);
  auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  const float two = 2;
  constants->setConstantValue(&two, MTL::DataTypeFloat, NS::UInteger(0));
  NS::Error* none = nullptr;
  const Linked with_constants("apply",
                              {NS::TransferPtr(library(kSource)->newFunction(text("scaled"), constants.get(), &none))});
  CHECK_MESSAGE(has(with_constants.error, "function constants"), with_constants.error);
}

TEST_CASE("misuse of tables is said, and nothing runs") {
  const Pool pool;
  const Linked pipeline("apply", {function("add")}), another("apply", {function("add")}), plain("plain", {});
  REQUIRE_MESSAGE(pipeline.state, pipeline.error);
  REQUIRE_MESSAGE(plain.state, plain.error);
  const auto table = pipeline.table(1);
  const auto x = buffer<float>({1, 2, 3, 4}), lost = buffer<float>({1, 2, 3, 4});
  table->setFunction(another.handle(0), 0);  // said on stderr, and not done
  table->setFunction(pipeline.handle(0), 1);
  CHECK(pipeline.state->newVisibleFunctionTable(nullptr) == nullptr);
  Run empty;
  empty.apply(pipeline, lost.get(), table.get(), 0);
  CHECK(has(empty.end(), "function table"));
  const auto error_of = [&](auto&& encode) {
    Run run;
    run.encoder->setComputePipelineState(pipeline.state.get());
    run.encoder->setBuffer(x.get(), 0, 0);
    encode(*run.encoder);
    run.encoder->dispatchThreads({4, 1, 1}, {4, 1, 1});
    return run.end();
  };
  const uint32_t zero = 0;
  std::string error = error_of([&](MTL::ComputeCommandEncoder& to) { to.setBytes(&zero, 4, 2); });
  CHECK_MESSAGE(has(error, "missing binding at index 1 for function table 'table'"), error);
  error = error_of([&](MTL::ComputeCommandEncoder& to) {
    to.setBytes(&zero, 4, 2);
    to.setBuffer(x.get(), 0, 1);
  });
  CHECK_MESSAGE(has(error, "a buffer is bound at index 1 for function table 'table'"), error);
  error = error_of([&](MTL::ComputeCommandEncoder& to) {
    to.setBytes(&zero, 4, 2);
    to.setVisibleFunctionTable(another.table(1).get(), 1);
  });
  CHECK_MESSAGE(has(error, "a table is for its own pipeline"), error);
  error = error_of([&](MTL::ComputeCommandEncoder& to) { to.setVisibleFunctionTable(table.get(), 31); });
  CHECK_MESSAGE(has(error, "index 31 is above 30"), error);
  error = error_of([&](MTL::ComputeCommandEncoder& to) {
    to.setComputePipelineState(plain.state.get());
    to.setVisibleFunctionTable(table.get(), 1);
  });
  CHECK_MESSAGE(has(error, "a function table is bound at index 1, where 'y' is a buffer"), error);
  CHECK(values<float>(x.get()) == std::vector<float>{1, 2, 3, 4});
}
