// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// torture.ll: what kernels rarely hold, in every mode. And the shape of what comes out.
#include "bitcode/writer.hpp"
#include "canonical.hpp"
#include "files.hpp"
#include "oracle.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::test;
using aot::bitcode::write_bitcode;
using aot::bitcode::WriteOptions;

namespace {

std::string torture() {
  return std::string(as_text(must_read(std::string(SMELT_SOURCE_DIR) + "/tests/aot/air/bitcode/torture.ll")));
}

Bytes written(const std::string& text, const WriteOptions& options) {
  llvm::LLVMContext context;
  const auto module = parse_19(text, context);
  REQUIRE(module);
  auto bytes = write_bitcode(*module, options);
  REQUIRE_MESSAGE(bytes.has_value(), bytes.error().message);
  return std::move(*bytes);
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the torture module is written in every mode") {
  const std::string text = torture();
  for (const bool expand : {false, true}) {
    for (const bool reverse : {false, true}) {
      for (const bool old : {false, true}) {
        CAPTURE(expand);
        CAPTURE(reverse);
        CAPTURE(old);
        WriteOptions options;
        options.air = old ? aot::Version{2, 5, 0} : aot::Version{2, 7, 0};
        options.expand_constants = expand;
        options.reverse_blocks = reverse;
        options.wrap = false;
        const Bytes bytes = written(text, options);
        if (have_llvm_14()) {
          const Verdict verdict = judge_14(bytes);
          CHECK_MESSAGE(verdict.accepted, verdict.error);
          CHECK(verdict.error == "");
          if (expand) {  // no address is computed in an operand
            const size_t bodies = verdict.text.find("define void @entry");
            const std::string body = verdict.text.substr(bodies, verdict.text.find("\n}", bodies) - bodies);
            CHECK_FALSE(contains(body, " bitcast ("));
            CHECK_FALSE(contains(body, "getelementptr inbounds ("));
            CHECK_FALSE(contains(body, "ptrtoint ("));
            CHECK(contains(body, "inttoptr (i64 34630305 to %struct._sampler_t addrspace(2)*)"));
          }
        }
        if (expand || old) continue;
        // Same module to LLVM 19, but for what LLVM 14 has no place for, and the module flag that it aborts on.
        llvm::LLVMContext context, fresh;
        const auto before = parse_19(text, context);
        const auto after = read_19(bytes, fresh);
        REQUIRE(after);
        before->getNamedMetadata("llvm.module.flags")->eraseFromParent();
        after->getNamedMetadata("llvm.module.flags")->eraseFromParent();
        Canonical how;
        how.older_flags = true;
        const std::string wanted = canonical_text(*before, how);
        how.turn_blocks = reverse;
        CHECK(first_difference(wanted, canonical_text(*after, how)) == "");
      }
    }
  }
}

TEST_CASE("the shape of what LLVM 14 reads") {
  if (!have_llvm_14()) {
    smelt::test::skipped("llvm-dis-14 and opt-14 are not installed");
    return;
  }
  WriteOptions options;
  options.wrap = false;
  const std::string text = judge_14(written(torture(), options)).text;
  // Declarations in Apple's types, LLVM 14's shapes where it fixes them, handles from metadata.
  CHECK(contains(text, "@air.atomic.global.cmpxchg.weak.i32(i32 addrspace(1)* nocapture, i32* nocapture, "));
  CHECK(contains(text, "declare {}* @llvm.invariant.start.p0i8(i64 immarg, i8* nocapture)"));
  CHECK(contains(text, "@llvm.masked.load.v4f32.p1v4f32(<4 x float> addrspace(1)*,"));
  CHECK(contains(text,
                 "define void @entry(i8 addrspace(1)* %0, %struct._texture_2d_t addrspace(1)* readonly %1, "
                 "%struct._sampler_t addrspace(2)* %2, <3 x i32> %3)"));
  CHECK(contains(text, "[2 x { i32, void ()*, i8* }]"));
  CHECK(
      contains(text, "@by_type(%struct.plain* sret(%struct.plain) align 8 %0, %struct.packed* byval(%struct.packed)"));
  // The flag with behaviour 8 is gone; the source name is the module's own.
  CHECK_FALSE(contains(text, "PIC Level"));
  CHECK(contains(text, "source_filename = \"torture\""));
  // Never in Apple's output.
  for (const char* never : {"dso_local", "comdat", "uwtable", "personality"}) CHECK_FALSE(contains(text, never));
}

TEST_CASE("below AIR 2.6 nothing newer is written") {
  if (!have_llvm_14()) {
    smelt::test::skipped("llvm-dis-14 and opt-14 are not installed");
    return;
  }
  const char* source = R"(
    define <2 x float> @f(<2 x float> %x, i1 %c, i32 %n) mustprogress nofree nosync willreturn {
    entry:
      %neg = fneg fast <2 x float> %x
      %z = freeze i32 %n
      %u = freeze i32 undef
      %sum = add i32 %z, %u
      %again = add i32 %sum, %u
      %i = insertelement <2 x float> poison, float 1.0, i32 %again
      br i1 %c, label %next, label %end
    next:
      br label %end
    end:
      %phi = phi fast <2 x float> [ %neg, %entry ], [ %i, %next ]
      %sel = select nnan i1 %c, <2 x float> %phi, <2 x float> %x
      ret <2 x float> %sel
    })";
  WriteOptions options;
  options.wrap = false;
  options.air = {2, 5, 0};
  std::string text = judge_14(written(source, options)).text;
  CHECK(contains(text, "fsub fast <2 x float> <float -0.000000e+00, float -0.000000e+00>, %0"));
  CHECK(contains(text, "add i32 %2, 0"));  // both uses of a frozen undef see the same number
  CHECK(contains(text, "add i32 %5, 0"));
  CHECK(contains(text, "phi <2 x float>"));
  CHECK(contains(text, "select i1"));
  CHECK(contains(text, "insertelement <2 x float> undef"));
  for (const char* newer : {"freeze", "fneg", "poison", "mustprogress", "nofree", "nosync", "willreturn"})
    CHECK_FALSE(contains(text, newer));
  options.air = {2, 6, 0};
  text = judge_14(written(source, options)).text;
  for (const char* kept : {"freeze i32 %2", "fneg fast", "poison", "mustprogress", "phi fast", "select nnan"})
    CHECK(contains(text, kept));
}

TEST_CASE("the wrapper") {
  WriteOptions options;
  const Bytes wrapped = written("define void @f() { ret void }", options);
  options.wrap = false;
  const Bytes raw = written("define void @f() { ret void }", options);
  CHECK(load_le<uint32_t>(&wrapped[0]) == 0x0B17C0DE);
  CHECK(load_le<uint32_t>(&wrapped[4]) == 0);
  CHECK(load_le<uint32_t>(&wrapped[8]) == 20);
  CHECK(load_le<uint32_t>(&wrapped[12]) == raw.size());
  CHECK(load_le<uint32_t>(&wrapped[16]) == 0xFFFFFFFF);
  CHECK(wrapped.size() % 16 == 0);
  CHECK(raw.size() % 4 == 0);
  CHECK(std::equal(raw.begin(), raw.end(), wrapped.begin() + 20));
  for (size_t i = 20 + raw.size(); i < wrapped.size(); ++i) CHECK(wrapped[i] == std::byte{0});
}

TEST_CASE("an empty module, and one of declarations alone") {
  WriteOptions options;
  options.wrap = false;
  for (const char* source : {"", "declare void @f(ptr)\n@g = external global i32", "!named = !{}"}) {
    const Bytes bytes = written(source, options);
    llvm::LLVMContext context;
    CHECK(read_19(bytes, context));
    if (have_llvm_14()) CHECK(judge_14(bytes).accepted);
  }
}
