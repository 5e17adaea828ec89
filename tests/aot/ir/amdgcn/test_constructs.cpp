// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operations of AMD mean, lane by lane, executed: each in a small kernel of two waves, against the definition
// in docs/formats/triton-amdgcn.md 4 written out once more, one lane at a time.
#include "smelt/aot/compile.hpp"

#include "files.hpp"
#include "launch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>

using namespace smelt;
using namespace smelt::aot;

namespace {

/// perm: each byte of the selector picks one of the pair's eight (0 to 7), the sign of a half word (8 to 11), 0 or 255.
uint32_t permuted(uint64_t pair, uint32_t selector) {
  uint32_t made = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const uint32_t pick = selector >> (8 * i) & 0xff;
    uint32_t byte = pick == 12 ? 0 : 0xff;
    if (pick < 8) byte = pair >> (8 * pick) & 0xff;
    if (pick >= 8 && pick < 12) byte = (pair >> (16 * (pick - 8) + 15) & 1) * 0xff;
    made |= byte << (8 * i);
  }
  return made;
}

constexpr uint32_t kThreads = 64;

struct Operation {
  std::string code;  ///< defines %r, an i32, from %v, an i32, and %t, the thread
  /// From all lanes of the own wave and the own lane.
  std::function<uint32_t(const uint32_t*, uint32_t)> wanted;
};

/// One kernel that does all operations to the same values: out[i * 64 + t].
std::string kernel_of(const std::vector<Operation>& operations, const std::string& declarations) {
  std::string text =
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) inreg %in, ptr addrspace(1) inreg %out, ptr addrspace(1) inreg "
      "%scratch, ptr addrspace(1) inreg %profile) \"amdgpu-flat-work-group-size\"=\"1,64\" {\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  %p = getelementptr i32, ptr addrspace(1) %in, i32 %t\n  %v = load i32, ptr addrspace(1) %p\n";
  for (size_t i = 0; i < operations.size(); ++i) {
    std::string code = operations[i].code;
    for (size_t at = code.find('#'); at != std::string::npos; at = code.find('#'))
      code.replace(at, 1, std::to_string(i));
    text += fmt::format(
        "{0}\n  %a{1} = add i32 %t, {2}\n  %q{1} = getelementptr i32, ptr addrspace(1) %out, i32 %a{1}\n"
        "  store i32 %r{1}, ptr addrspace(1) %q{1}\n",
        code, i, i * kThreads);
  }
  return text + "  ret void\n}\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n" + declarations;
}

test::LoadedSlice load(const std::string& text, std::string* method = nullptr) {
  const std::vector<Source> sources = {{"k.ll", as_bytes(std::string_view(text))}};
  CompileOptions options;
  options.targets.push_back(parse_target("macos14").value());
  const auto compiled = compile(sources, options);
  if (!compiled) throw std::runtime_error(compiled.error().message);
  CpuOptions cpu;
  cpu.level = test::runnable_levels().front();
  test::LoadedSlice slice = test::compile_one("k", compiled->targets[0].functions[0].bitcode, cpu);
  if (method) *method = slice.find("k")->method;
  return slice;
}

void check_all(const std::vector<Operation>& operations, const std::string& declarations) {
  const test::LoadedSlice slice = load(kernel_of(operations, declarations));
  std::vector<uint32_t> in(kThreads), out(operations.size() * kThreads, 0xdeadbeef);
  for (uint32_t i = 0; i < kThreads; ++i) in[i] = 0x9e3779b9u * (i + 1);
  test::Launch launch;
  launch.grid = launch.group = {kThreads, 1, 1};
  launch.bind(0, in).bind(1, out);
  slice.run("k", launch);
  for (size_t i = 0; i < operations.size(); ++i)
    for (uint32_t t = 0; t < kThreads; ++t) {
      const uint32_t wanted = operations[i].wanted(in.data() + (t & ~31u), t & 31);
      CHECK_MESSAGE(out[i * kThreads + t] == wanted, operations[i].code, " in thread ", t, ": ", out[i * kThreads + t],
                    ", wanted ", wanted);
    }
}

/// update.dpp: the lane read inside the row, or -1.
int dpp_place(unsigned control, int i) {
  const int n = static_cast<int>(control & 15);
  if (control <= 0xff) return (i & ~3) + static_cast<int>(control >> (2 * (i & 3)) & 3);
  switch (control & ~15u) {
    case 0x100:
      return i + n <= 15 ? i + n : -1;
    case 0x110:
      return i - n;
    case 0x120:
      return (i + 16 - n) % 16;
    case 0x140:
      return n == 0 ? 15 - i : i < 8 ? 7 - i : 23 - i;
    case 0x150:
      return n;
    default:
      return i ^ n;
  }
}

}  // namespace

TEST_CASE("update.dpp: every kind of control, row and bank masks, bound control") {
  std::vector<Operation> operations;
  for (const unsigned control : {0x1bu,  0xb1u,  0x4eu,  0x00u,  0x93u,  0x101u, 0x104u, 0x10fu, 0x111u, 0x112u, 0x118u,
                                 0x11fu, 0x121u, 0x128u, 0x12fu, 0x140u, 0x141u, 0x150u, 0x15fu, 0x161u, 0x16fu})
    for (const auto& [rows, banks, bound] : {std::tuple{15u, 15u, 1u}, {15u, 15u, 0u}, {15u, 10u, 0u}, {1u, 5u, 1u}}) {
      if (control > 0x93 && control < 0x101 && banks != 15) continue;
      operations.push_back(
          {fmt::format("  %r# = call i32 @llvm.amdgcn.update.dpp.i32(i32 7, i32 %v, i32 {}, i32 {}, i32 {}, i1 {})",
                       control, rows, banks, bound ? "true" : "false"),
           [=](const uint32_t* wave, uint32_t lane) -> uint32_t {
             if (!(rows >> (lane >> 4) & 1) || !(banks >> ((lane & 15) >> 2) & 1)) return 7;
             const int place = dpp_place(control, static_cast<int>(lane & 15));
             return place >= 0 ? wave[(lane & 16) + static_cast<uint32_t>(place)] : bound ? 0 : 7;
           }});
    }
  check_all(operations,
            "declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg) "
            "#0\nattributes #0 = { convergent nounwind }\n");
}

TEST_CASE("swizzles, permutations, single lanes, votes") {
  std::vector<Operation> operations;
  for (const unsigned offset :
       {0x041fu, 0x081fu, 0x101fu, 0x201fu, 0x401fu, 0x001fu, 0x7c1fu, 0x0000u, 0x0018u, 0x02a3u, 0x801bu, 0x80b1u})
    operations.push_back({fmt::format("  %r# = call i32 @llvm.amdgcn.ds.swizzle(i32 %v, i32 {})", offset),
                          [=](const uint32_t* wave, uint32_t lane) {
                            if (offset & 0x8000) return wave[(lane & ~3u) | (offset >> (2 * (lane & 3)) & 3)];
                            return wave[((lane & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31)];
                          }});
  operations.push_back({"  %i# = mul i32 %t, 28\n  %r# = call i32 @llvm.amdgcn.ds.bpermute(i32 %i#, i32 %v)",
                        [](const uint32_t* wave, uint32_t lane) { return wave[lane * 7 % 32]; }});
  for (const bool across : {false, true})
    for (const auto& [low, high] : {std::pair{0x76543210u, 0xfedcba98u}, {~0u, ~0u}, {0x01234567u, 0x13579bdfu}})
      operations.push_back(
          {fmt::format("  %r# = call i32 @llvm.amdgcn.permlane{}16.i32(i32 poison, i32 %v, i32 {}, i32 {}, i1 true, i1 "
                       "false)",
                       across ? "x" : "", static_cast<int32_t>(low), static_cast<int32_t>(high)),
           [=](const uint32_t* wave, uint32_t lane) {
             const uint32_t nibble = (lane & 8 ? high : low) >> (4 * (lane & 7)) & 15;
             return wave[((lane & 16) ^ (across ? 16 : 0)) | nibble];
           }});
  for (const uint32_t from : {0u, 31u, 17u})
    operations.push_back({fmt::format("  %r# = call i32 @llvm.amdgcn.readlane.i32(i32 %v, i32 {})", from),
                          [=](const uint32_t* wave, uint32_t) { return wave[from]; }});
  operations.push_back({"  %r# = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %v)",
                        [](const uint32_t* wave, uint32_t) { return wave[0]; }});
  operations.push_back({"  %c# = icmp slt i32 %v, 0\n  %r# = call i32 @llvm.amdgcn.ballot.i32(i1 %c#)",
                        [](const uint32_t* wave, uint32_t) {
                          uint32_t votes = 0;
                          for (uint32_t lane = 0; lane < 32; ++lane) votes |= wave[lane] >> 31 << lane;
                          return votes;
                        }});
  operations.push_back({"  %r# = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 100)",
                        [](const uint32_t*, uint32_t lane) { return lane + 100; }});
  operations.push_back({"  %r# = call i32 @llvm.amdgcn.mbcnt.lo(i32 12345, i32 0)", [](const uint32_t*, uint32_t lane) {
                          return static_cast<uint32_t>(std::popcount(12345u & ((1u << lane) - 1)));
                        }});
  check_all(operations,
            "declare i32 @llvm.amdgcn.ds.swizzle(i32, i32 immarg) #0\n"
            "declare i32 @llvm.amdgcn.ds.bpermute(i32, i32) #0\n"
            "declare i32 @llvm.amdgcn.permlane16.i32(i32, i32, i32, i32, i1 immarg, i1 immarg) #0\n"
            "declare i32 @llvm.amdgcn.permlanex16.i32(i32, i32, i32, i32, i1 immarg, i1 immarg) #0\n"
            "declare i32 @llvm.amdgcn.readlane.i32(i32, i32) #0\ndeclare i32 @llvm.amdgcn.readfirstlane.i32(i32) #0\n"
            "declare i32 @llvm.amdgcn.ballot.i32(i1) #0\ndeclare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)\n"
            "attributes #0 = { convergent nounwind }\n");
}

TEST_CASE("moves of every type that fits a shuffle") {
  const auto same = [](const uint32_t* wave, uint32_t) { return wave[9]; };
  const std::vector<Operation> operations = {
      {"  %c# = icmp slt i32 %v, 0\n  %m# = call i1 @llvm.amdgcn.readlane.i1(i1 %c#, i32 9)\n  %r# = zext i1 %m# to "
       "i32",
       [](const uint32_t* wave, uint32_t) { return wave[9] >> 31; }},
      {"  %c# = icmp slt i32 %v, 0\n  %m# = call i1 @llvm.amdgcn.readfirstlane.i1(i1 %c#)\n  %r# = zext i1 %m# to i32",
       [](const uint32_t* wave, uint32_t) { return wave[0] >> 31; }},
      {"  %n# = trunc i32 %v to i8\n  %m# = call i8 @llvm.amdgcn.readlane.i8(i8 %n#, i32 9)\n  %r# = zext i8 %m# to "
       "i32",
       [](const uint32_t* wave, uint32_t) { return wave[9] & 0xff; }},
      {"  %n# = bitcast i32 %v to <2 x half>\n  %m# = call <2 x half> @llvm.amdgcn.readlane.v2f16(<2 x half> %n#, i32 "
       "9)\n"
       "  %r# = bitcast <2 x half> %m# to i32",
       same},
      {"  %n# = bitcast i32 %v to <2 x bfloat>\n  %m# = call <2 x bfloat> @llvm.amdgcn.readlane.v2bf16(<2 x bfloat> "
       "%n#, i32 "
       "9)\n  %r# = bitcast <2 x bfloat> %m# to i32",
       same},
      {"  %n# = bitcast i32 %v to float\n  %m# = call float @llvm.amdgcn.readlane.f32(float %n#, i32 9)\n"
       "  %r# = bitcast float %m# to i32",
       same},
      {"  %n# = zext i32 %v to i64\n  %s# = shl i64 %n#, 20\n  %m# = call i64 @llvm.amdgcn.readlane.i64(i64 %s#, i32 "
       "9)\n"
       "  %k# = lshr i64 %m#, 20\n  %r# = trunc i64 %k# to i32",
       same},
      {"  %n# = zext i32 %v to i64\n  %p# = getelementptr i8, ptr addrspace(1) %in, i64 %n#\n"
       "  %m# = call ptr addrspace(1) @llvm.amdgcn.readlane.p1(ptr addrspace(1) %p#, i32 9)\n"
       "  %x# = ptrtoint ptr addrspace(1) %m# to i64\n  %y# = ptrtoint ptr addrspace(1) %in to i64\n"
       "  %z# = sub i64 %x#, %y#\n  %r# = trunc i64 %z# to i32",
       same},
  };
  check_all(operations,
            "declare i1 @llvm.amdgcn.readlane.i1(i1, i32) #0\ndeclare i1 @llvm.amdgcn.readfirstlane.i1(i1) #0\n"
            "declare i8 @llvm.amdgcn.readlane.i8(i8, i32) #0\ndeclare float @llvm.amdgcn.readlane.f32(float, i32) #0\n"
            "declare i64 @llvm.amdgcn.readlane.i64(i64, i32) #0\n"
            "declare <2 x half> @llvm.amdgcn.readlane.v2f16(<2 x half>, i32) #0\n"
            "declare <2 x bfloat> @llvm.amdgcn.readlane.v2bf16(<2 x bfloat>, i32) #0\n"
            "declare ptr addrspace(1) @llvm.amdgcn.readlane.p1(ptr addrspace(1), i32) #0\n"
            "attributes #0 = { convergent nounwind }\n");
}

TEST_CASE("the exponent and fraction of a float that went through double") {
  const auto fraction = [](uint32_t bits) {
    int exponent = 0;
    return std::pair(std::frexp(std::bit_cast<float>(bits), &exponent), exponent);
  };
  const auto number = [](const uint32_t* wave, uint32_t lane) {
    return (wave[lane] & 0x807fffff) | (wave[lane] >> 1 & 0x3f000000) | 0x20000000;
  };
  const std::string make =
      "  %a1# = and i32 %v, -2139095041\n  %b1# = lshr i32 %v, 1\n  %b2# = and i32 %b1#, 1056964608\n"
      "  %c1# = or i32 %a1#, %b2#\n  %c2# = or i32 %c1#, 536870912\n  %f# = bitcast i32 %c2# to float\n"
      "  %d# = fpext float %f# to double\n  %pair# = call { double, i32 } @llvm.frexp.f64.i32(double %d#)\n";
  const std::vector<Operation> operations = {
      {make + "  %r# = extractvalue { double, i32 } %pair#, 1",
       [&](const uint32_t* wave, uint32_t lane) { return static_cast<uint32_t>(fraction(number(wave, lane)).second); }},
      {make + "  %m# = extractvalue { double, i32 } %pair#, 0\n  %n# = fptrunc double %m# to float\n"
              "  %r# = bitcast float %n# to i32",
       [&](const uint32_t* wave, uint32_t lane) {
         return std::bit_cast<uint32_t>(fraction(number(wave, lane)).first);
       }},
  };
  check_all(operations, "declare { double, i32 } @llvm.frexp.f64.i32(double)\n");
}

TEST_CASE("packed products and bytes") {
  const auto byte = [](uint32_t word, unsigned i) {
    return static_cast<int32_t>(static_cast<int8_t>(word >> (8 * i)));
  };
  // Powers of two up to 1, and zeros.
  const std::string half_products =
      "  %m# = and i32 %v, 1006648320\n  %h# = bitcast i32 %m# to <2 x half>\n"
      "  %d# = call float @llvm.amdgcn.fdot2(<2 x half> %h#, <2 x half> %h#, ";
  const auto sum_of_squares = [](uint32_t word) {
    float sum = 1;
    for (const unsigned shift : {10u, 26u}) {
      const int exponent = static_cast<int>(word >> shift & 15);
      const float half = exponent == 0 ? 0 : std::ldexp(1.0f, exponent - 15);
      sum = std::fma(half, half, sum);
    }
    return sum;
  };
  const auto unsigned_byte = [](uint32_t word, unsigned i) { return static_cast<int32_t>(word >> (8 * i) & 0xff); };
  const std::vector<Operation> operations = {
      {"  %r# = call i32 @llvm.amdgcn.sdot4(i32 %v, i32 %v, i32 77, i1 false)",
       [=](const uint32_t* wave, uint32_t lane) {
         int32_t sum = 77;
         for (unsigned i = 0; i < 4; ++i) sum += byte(wave[lane], i) * byte(wave[lane], i);
         return static_cast<uint32_t>(sum);
       }},
      {"  %r# = call i32 @llvm.amdgcn.udot4(i32 %v, i32 -1, i32 5, i1 false)",
       [=](const uint32_t* wave, uint32_t lane) {
         int32_t sum = 5;
         for (unsigned i = 0; i < 4; ++i) sum += unsigned_byte(wave[lane], i) * 255;
         return static_cast<uint32_t>(sum);
       }},
      {"  %r# = call i32 @llvm.amdgcn.sdot4(i32 2139062143, i32 2139062143, i32 2147483600, i1 true)",
       [](const uint32_t*, uint32_t) { return 0x7fffffffu; }},
      {"  %r# = call i32 @llvm.amdgcn.sudot4(i1 true, i32 %v, i1 false, i32 %v, i32 0, i1 false)",
       [=](const uint32_t* wave, uint32_t lane) {
         int32_t sum = 0;
         for (unsigned i = 0; i < 4; ++i) sum += byte(wave[lane], i) * unsigned_byte(wave[lane], i);
         return static_cast<uint32_t>(sum);
       }},
      {half_products + "float 1.0, i1 false)\n  %r# = bitcast float %d# to i32",
       [=](const uint32_t* wave, uint32_t lane) { return std::bit_cast<uint32_t>(sum_of_squares(wave[lane])); }},
      {half_products + "float 1.0, i1 true)\n  %r# = bitcast float %d# to i32",
       [](const uint32_t*, uint32_t) { return std::bit_cast<uint32_t>(1.0f); }},
      {"  %r# = call i32 @llvm.amdgcn.perm(i32 %v, i32 287454020, i32 201720070)",  // selector 0x0c060106
       [](const uint32_t* wave, uint32_t lane) {
         const uint32_t high = wave[lane], low = 0x11223344;
         return (high >> 16 & 0xff) | (low >> 8 & 0xff) << 8 | (high >> 16 & 0xff) << 16;
       }},
      {"  %r# = call i32 @llvm.amdgcn.perm(i32 %v, i32 -2004318073, i32 %v)",  // each lane its own selector
       [](const uint32_t* wave, uint32_t lane) {
         return permuted(uint64_t{wave[lane]} << 32 | 0x88888887, wave[lane]);
       }},
      {"  %s# = and i32 %v, 252645135\n  %r# = call i32 @llvm.amdgcn.perm(i32 305419896, i32 %v, i32 %s#)",  // 0 to 15
       [](const uint32_t* wave, uint32_t lane) {
         return permuted(uint64_t{0x12345678} << 32 | wave[lane], wave[lane] & 0x0f0f0f0f);
       }},
      {"  %m# = and i32 %v, 133169152\n  %f# = bitcast i32 %m# to float\n  %g# = fmul float %f#, 0x4770000000000000\n"
       "  %r# = bitcast float %g# to i32",  // 2^120: how 8-bit floats are widened, subnormals among them
       [](const uint32_t* wave, uint32_t lane) {
         return std::bit_cast<uint32_t>(std::bit_cast<float>(wave[lane] & 133169152u) * 0x1p120f);
       }},
      {"  %m# = and i32 %v, -2139095041\n  %f# = bitcast i32 %m# to float\n  %g# = fmul float %f#, -3.0e+08\n"
       "  %r# = bitcast float %g# to i32",  // subnormals of both signs alone
       [](const uint32_t* wave, uint32_t lane) {
         return std::bit_cast<uint32_t>(std::bit_cast<float>(wave[lane] & 0x807fffffu) * -3e8f);
       }},
      {"  %r# = call i32 @llvm.amdgcn.ubfe.i32(i32 %v, i32 5, i32 9)",
       [](const uint32_t* wave, uint32_t lane) { return wave[lane] >> 5 & 511; }},
      {"  %r# = call i32 @llvm.amdgcn.sbfe.i32(i32 %v, i32 20, i32 8)",
       [](const uint32_t* wave, uint32_t lane) {
         return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(wave[lane] >> 20)));
       }},
      {"  %r# = call i32 @llvm.amdgcn.ubfe.i32(i32 %v, i32 5, i32 0)", [](const uint32_t*, uint32_t) { return 0u; }},
  };
  check_all(
      operations,
      "declare i32 @llvm.amdgcn.sdot4(i32, i32, i32, i1 immarg)\ndeclare i32 @llvm.amdgcn.udot4(i32, i32, i32, i1 "
      "immarg)\ndeclare i32 @llvm.amdgcn.sudot4(i1 immarg, i32, i1 immarg, i32, i32, i1 immarg)\n"
      "declare float @llvm.amdgcn.fdot2(<2 x half>, <2 x half>, float, i1 immarg)\n"
      "declare i32 @llvm.amdgcn.perm(i32, i32, i32)\ndeclare i32 @llvm.amdgcn.ubfe.i32(i32, i32, i32)\n"
      "declare i32 @llvm.amdgcn.sbfe.i32(i32, i32, i32)\n");
}

TEST_CASE("buffers: past the end a load is 0 and a store is nothing") {
  const std::string text =
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) inreg %in, ptr addrspace(1) inreg %out, ptr addrspace(1) inreg "
      "%s, "
      "ptr addrspace(1) inreg %p) {\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  %a = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %in, i16 0, i64 80, i32 "
      "822243328)\n"
      "  %b = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %out, i16 0, i64 100, i32 "
      "822243328)\n"
      "  %at = shl i32 %t, 2\n"
      "  %v = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %a, i32 %at, i32 0, i32 0)\n"
      "  %w = add i32 %v, 1\n"
      "  call void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32 %w, ptr addrspace(8) %b, i32 %at, i32 0, i32 0)\n"
      "  %odd = and i32 %t, 1\n  %is = icmp eq i32 %odd, 0\n  %far = select i1 %is, i32 128, i32 -2147483648\n"
      "  %c = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %out, i16 0, i64 2147483646, "
      "i32 "
      "822243328)\n"
      "  %old = call i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32 3, ptr addrspace(8) %c, i32 %far, i32 4, i32 "
      "0)\n"
      "  ret void\n}\n"
      "declare i32 @llvm.amdgcn.workitem.id.x()\n"
      "declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)\n"
      "declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32 immarg)\n"
      "declare void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32, ptr addrspace(8), i32, i32, i32 immarg)\n"
      "declare i32 @llvm.amdgcn.raw.ptr.buffer.atomic.add.i32(i32, ptr addrspace(8), i32, i32, i32 immarg)\n";
  const test::LoadedSlice slice = load(text);
  std::vector<uint32_t> in(32, 5), out(40, 9);
  test::Launch launch;
  launch.grid = launch.group = {32, 1, 1};
  launch.bind(0, in).bind(1, out);
  slice.run("k", launch);
  for (uint32_t i = 0; i < 25; ++i) CHECK(out[i] == (i < 20 ? 6 : 1));
  for (uint32_t i = 25; i < 40; ++i) CHECK(out[i] == (i == 33 ? 9 + 16 * 3 : 9));
}

/// One form of WMMA: the types of A and B and of C and D, and where GFX11 and GFX12 have what.
struct Form {
  std::string operand, result, operation;
  unsigned bits;           ///< of a number of A and B
  unsigned exponent_bits;  ///< 0: an integer
  unsigned depth = 16;
  bool is_gfx12 = false;

  bool is_float() const { return exponent_bits != 0; }
  unsigned result_bits() const { return result.find("32") != std::string::npos || result == "<8 x float>" ? 32 : 16; }
  unsigned numbers() const { return is_gfx12 ? depth / 2 : depth; }  ///< of A in a lane
  unsigned words() const { return numbers() * bits / 32; }
  unsigned k(unsigned lane, unsigned index) const { return index + (is_gfx12 ? numbers() * (lane >> 4) : 0); }
  unsigned row(unsigned lane, unsigned e) const { return is_gfx12 ? 8 * (lane >> 4) + e : 2 * e + (lane >> 4); }

  std::string text() const {
    const std::string sign = is_float() ? "" : "i1 true, ", tail = is_float() ? "" : ", i1 false";
    return fmt::format(
        "target triple = \"amdgcn-amd-amdhsa\"\n"
        "define amdgpu_kernel void @k(ptr addrspace(1) %pa, ptr addrspace(1) %pb, ptr addrspace(1) %pc) {{\n"
        "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
        "  %qa = getelementptr {0}, ptr addrspace(1) %pa, i32 %t\n  %a = load {0}, ptr addrspace(1) %qa\n"
        "  %qb = getelementptr {0}, ptr addrspace(1) %pb, i32 %t\n  %b = load {0}, ptr addrspace(1) %qb\n"
        "  %qc = getelementptr {1}, ptr addrspace(1) %pc, i32 %t\n  %c = load {1}, ptr addrspace(1) %qc\n"
        "  %d = call {1} @llvm.amdgcn.wmma.{2}({3}{0} %a, {3}{0} %b, {1} %c{4})\n"
        "  store {1} %d, ptr addrspace(1) %qc\n  ret void\n}}\n"
        "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare {1} @llvm.amdgcn.wmma.{2}({5}{0}, {5}{0}, {1}{6}) "
        "convergent\n",
        operand, result, operation, sign, tail, is_float() ? "" : "i1, ", is_float() ? "" : ", i1");
  }
};

/// A small whole number as a float of so many bits.
uint32_t small_float(int number, unsigned bits, unsigned exponent_bits) {
  if (number == 0) return 0;
  const uint32_t single = std::bit_cast<uint32_t>(static_cast<float>(number));
  const unsigned fraction_bits = bits - 1 - exponent_bits, bias = (1u << (exponent_bits - 1)) - 1;
  return (single >> 31) << (bits - 1) | ((single >> 23 & 0xff) - 127 + bias) << fraction_bits |
         (single & 0x7fffff) >> (23 - fraction_bits);
}

void check_wmma(const Form& form) {
  CAPTURE(form.operation);
  const test::LoadedSlice slice = load(form.text());
  // Small whole numbers, so that every order of summation gives the same, and every type has it exactly.
  const auto value = [&](unsigned major, unsigned k, unsigned salt) {
    return static_cast<int>((major * 7 + k * 5 + salt) % (form.result_bits() == 16 ? 4 : 13)) -
           (form.bits == 4             ? 6
            : form.result_bits() == 16 ? 1
                                       : 5);
  };
  const auto encode = [&](int number) {
    if (form.is_float()) return small_float(number, form.bits, form.exponent_bits);
    return static_cast<uint32_t>(number) & ((1u << form.bits) - 1);
  };
  const auto encode_sum = [&](int number) {
    if (form.result_bits() == 16) return small_float(number, 16, form.exponent_bits);
    return form.is_float() ? small_float(number, 32, 8) : static_cast<uint32_t>(number);
  };
  const auto c_value = [](unsigned row, unsigned column) { return static_cast<int>(row * 3 + column); };
  std::vector<uint32_t> a(size_t{32} * form.words()), b(a.size()), c(size_t{32} * 8 * form.result_bits() / 32);
  const auto sum_at = [&](unsigned lane, unsigned e) {
    const unsigned bit = (lane * 8 + e) * form.result_bits();
    return std::pair{bit / 32, bit % 32};
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < form.numbers(); ++i) {
      const unsigned word = lane * form.words() + i * form.bits / 32, shift = i * form.bits % 32;
      a[word] |= encode(value(lane & 15, form.k(lane, i), 1)) << shift;
      b[word] |= encode(value(lane & 15, form.k(lane, i), 4)) << shift;
    }
    for (unsigned e = 0; e < 8; ++e) {
      const auto [word, shift] = sum_at(lane, e);
      c[word] |= encode_sum(c_value(form.row(lane, e), lane & 15)) << shift;
    }
  }
  test::Launch launch;
  launch.grid = launch.group = {32, 1, 1};
  launch.bind(0, a).bind(1, b).bind(2, c);
  slice.run("k", launch);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned e = 0; e < 8; ++e) {
      const unsigned row = form.row(lane, e), column = lane & 15;
      int wanted = c_value(row, column);
      for (unsigned k = 0; k < form.depth; ++k) wanted += value(row, k, 1) * value(column, k, 4);
      const auto [word, shift] = sum_at(lane, e);
      const uint32_t mask = form.result_bits() == 32 ? ~0u : 0xffffu;
      CHECK((c[word] >> shift & mask) == encode_sum(wanted));
    }
}

TEST_CASE("WMMA of GFX11 in the registers' own layout") {
  check_wmma({"<16 x half>", "<8 x float>", "f32.16x16x16.f16.v8f32.v16f16", 16, 5});
  check_wmma({"<16 x i16>", "<8 x float>", "f32.16x16x16.bf16.v8f32.v16i16", 16, 8});
  check_wmma({"<4 x i32>", "<8 x i32>", "i32.16x16x16.iu8.v8i32.v4i32", 8, 0});
  check_wmma({"<2 x i32>", "<8 x i32>", "i32.16x16x16.iu4.v8i32.v2i32", 4, 0});
}

TEST_CASE("WMMA of GFX12: half of k a lane, the rows of D in halves") {
  check_wmma({"<8 x half>", "<8 x float>", "f32.16x16x16.f16.v8f32.v8f16", 16, 5, 16, true});
  check_wmma({"<8 x i16>", "<8 x float>", "f32.16x16x16.bf16.v8f32.v8i16", 16, 8, 16, true});
  check_wmma({"<8 x half>", "<8 x half>", "f16.16x16x16.f16.v8f16.v8f16", 16, 5, 16, true});
  check_wmma({"<8 x i16>", "<8 x i16>", "bf16.16x16x16.bf16.v8i16.v8i16", 16, 8, 16, true});
  check_wmma({"<2 x i32>", "<8 x float>", "f32.16x16x16.fp8.fp8.v8f32.v2i32", 8, 4, 16, true});
  check_wmma({"<2 x i32>", "<8 x float>", "f32.16x16x16.bf8.bf8.v8f32.v2i32", 8, 5, 16, true});
  check_wmma({"<2 x i32>", "<8 x i32>", "i32.16x16x16.iu8.v8i32.v2i32", 8, 0, 16, true});
  check_wmma({"i32", "<8 x i32>", "i32.16x16x16.iu4.v8i32.i32", 4, 0, 16, true});
  check_wmma({"<2 x i32>", "<8 x i32>", "i32.16x16x32.iu4.v8i32.v2i32", 4, 0, 32, true});
}

TEST_CASE("WMMA of GFX12: every 8-bit float, as A and as B") {
  // A has the byte in one element of its row, B one: D's row is the byte's value.
  for (const bool e4m3_first : {true, false}) {
    const char* const kinds = e4m3_first ? "fp8.bf8" : "bf8.fp8";
    const Form form{"<2 x i32>", "<8 x float>", fmt::format("f32.16x16x16.{}.v8f32.v2i32", kinds), 8, 4, 16, true};
    const test::LoadedSlice slice = load(form.text());
    const unsigned exponent_bits = e4m3_first ? 4 : 5, fraction_bits = 7 - exponent_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint32_t one = e4m3_first ? 15u << 2 : 7u << 3;  // of B's type
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::vector<uint32_t> a(64), b(64);
      std::vector<float> c(256);
      for (unsigned row = 0; row < 16; ++row) {
        a[row * 2] = byte;  // k = 0
        b[row * 2] = one;
      }
      test::Launch launch;
      launch.grid = launch.group = {32, 1, 1};
      launch.bind(0, a).bind(1, b).bind(2, c);
      slice.run("k", launch);
      const unsigned exponent = byte >> fraction_bits & ((1u << exponent_bits) - 1),
                     fraction = byte & ((1u << fraction_bits) - 1);
      const bool all_ones = exponent == (1u << exponent_bits) - 1;
      const bool is_nan = e4m3_first ? (byte & 0x7f) == 0x7f : all_ones && fraction != 0;
      double wanted = exponent == 0 ? std::ldexp(fraction, 1 - bias - static_cast<int>(fraction_bits))
                                    : std::ldexp(fraction + (1u << fraction_bits),
                                                 static_cast<int>(exponent) - bias - static_cast<int>(fraction_bits));
      if (!e4m3_first && all_ones) wanted = std::numeric_limits<double>::infinity();
      CAPTURE(byte);
      for (const float got : c) {
        if (is_nan)
          CHECK(std::isnan(got));
        else
          CHECK(got == (byte & 0x80 ? -wanted : wanted));
      }
    }
  }
}

TEST_CASE("GFX12's barrier in two parts: who waits sees what was written before the signal") {
  const std::string text =
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "@lds = internal addrspace(3) global [64 x i32] undef\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) %out) {\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
      "  %p = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %t\n  store i32 %t, ptr addrspace(3) %p\n"
      "  call void @llvm.amdgcn.s.wait.dscnt(i16 0)\n"
      "  fence syncscope(\"workgroup\") release\n  call void @llvm.amdgcn.s.barrier.signal(i32 -1)\n"
      "  %m = mul i32 %t, 100\n"
      "  call void @llvm.amdgcn.s.barrier.wait(i16 -1)\n  fence syncscope(\"workgroup\") acquire\n"
      "  %o = sub i32 63, %t\n  %q = getelementptr [64 x i32], ptr addrspace(3) @lds, i32 0, i32 %o\n"
      "  %v = load i32, ptr addrspace(3) %q\n  %s = add i32 %v, %m\n"
      "  %r = getelementptr i32, ptr addrspace(1) %out, i32 %t\n  store i32 %s, ptr addrspace(1) %r\n  ret void\n}\n"
      "declare i32 @llvm.amdgcn.workitem.id.x()\ndeclare void @llvm.amdgcn.s.barrier.signal(i32 immarg) convergent\n"
      "declare void @llvm.amdgcn.s.barrier.wait(i16 immarg) convergent\ndeclare void @llvm.amdgcn.s.wait.dscnt(i16 "
      "immarg)\n";
  const test::LoadedSlice slice = load(text);
  std::vector<uint32_t> out(64);
  test::Launch launch;
  launch.grid = launch.group = {64, 1, 1};
  launch.bind(0, out);
  slice.run("k", launch);
  for (uint32_t t = 0; t < 64; ++t) CHECK(out[t] == 63 - t + 100 * t);
}

TEST_CASE("upper halves of products, by the device library's names") {
  std::vector<Operation> operations;
  operations.push_back({"  %r# = call i32 @__ockl_mul_hi_u32(i32 %v, i32 -3)", [](const uint32_t* in, uint32_t t) {
                          return static_cast<uint32_t>(uint64_t{in[t]} * 0xfffffffdu >> 32);
                        }});
  operations.push_back({"  %r# = call i32 @__ockl_mul_hi_i32(i32 %v, i32 -3)", [](const uint32_t* in, uint32_t t) {
                          return static_cast<uint32_t>(int64_t{static_cast<int32_t>(in[t])} * -3 >> 32);
                        }});
  operations.push_back(
      {"  %x# = zext i32 %v to i64\n  %w# = shl i64 %x#, 20\n"
       "  %h# = call i64 @__ockl_mul_hi_u64(i64 %w#, i64 1099511627777)\n  %r# = trunc i64 %h# to i32",
       [](const uint32_t* in, uint32_t t) {
         const uint64_t wide = uint64_t{in[t]} << 20;  // times 2^40 + 1
         return static_cast<uint32_t>((wide >> 24) + ((wide << 40) + wide < wide));
       }});
  check_all(operations,
            "declare i32 @__ockl_mul_hi_u32(i32, i32)\ndeclare i32 @__ockl_mul_hi_i32(i32, i32)\n"
            "declare i64 @__ockl_mul_hi_u64(i64, i64)\n");
}

TEST_CASE("sizes of the launch") {
  const std::string text =
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) %out) {\n"
      "  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
      "  %x = load i32, ptr addrspace(4) %h\n"
      "  %hy = getelementptr inbounds i8, ptr addrspace(4) %h, i64 4\n  %y = load i32, ptr addrspace(4) %hy\n"
      "  %hs = getelementptr inbounds i8, ptr addrspace(4) %h, i64 12\n  %s = load i16, ptr addrspace(4) %hs\n"
      "  %sw = zext i16 %s to i32\n  %m = mul i32 %y, 1000\n  %n = add i32 %x, %m\n  %o = mul i32 %sw, 1000000\n"
      "  %r = add i32 %n, %o\n  store i32 %r, ptr addrspace(1) %out\n  ret void\n}\n"
      "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n";
  const test::LoadedSlice slice = load(text);
  std::vector<uint32_t> out(1);
  test::Launch launch;
  launch.grid = {32 * 6, 7, 1};
  launch.group = {32, 1, 1};
  launch.bind(0, out);
  slice.run("k", launch);
  CHECK(out[0] == 32'007'006);
}

TEST_CASE("device_assert: the failing thread leaves its line and ends; the others go on past the barrier") {
  // As Triton 3.6 writes it, the message's functions without their bodies' work.
  const std::string text = R"(target triple = "amdgcn-amd-amdhsa"
define amdgpu_kernel void @k(ptr addrspace(1) inreg %in, ptr addrspace(1) inreg %out, ptr addrspace(1) inreg readnone %scratch, ptr addrspace(1) inreg readnone %profile) "amdgpu-flat-work-group-size"="1,64" !dbg !5 {
  %t = call i32 @llvm.amdgcn.workitem.id.x(), !dbg !6
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %t
  %v = load i32, ptr addrspace(1) %p
  %bad = icmp ugt i32 %v, 9
  br i1 %bad, label %fails, label %goes, !dbg !7
fails:
  %m = call i64 @__ockl_fprintf_stderr_begin(), !dbg !7
  call void @__ockl_printf_append_string_n(i64 %m), !dbg !7
  fence syncscope("workgroup") release, !dbg !7
  call void @llvm.amdgcn.s.barrier(), !dbg !7
  fence syncscope("workgroup") acquire, !dbg !7
  call void @llvm.trap(), !dbg !7
  unreachable, !dbg !7
goes:
  fence syncscope("workgroup") release, !dbg !7
  call void @llvm.amdgcn.s.barrier(), !dbg !7
  fence syncscope("workgroup") acquire, !dbg !7
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %v, ptr addrspace(1) %q
  ret void
}
define internal i64 @__ockl_fprintf_stderr_begin() noinline {
  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %a = getelementptr i8, ptr addrspace(4) %h, i64 80
  %r = load i64, ptr addrspace(4) %a
  ret i64 %r
}
define internal void @__ockl_printf_append_string_n(i64 %m) noinline {
  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
  %a = getelementptr i8, ptr addrspace(4) %h, i64 80
  %r = load volatile i64, ptr addrspace(4) %a
  ret void
}
declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.trap()
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C, file: !2, producer: "triton", emissionKind: LineTablesOnly)
!2 = !DIFile(filename: "model.py", directory: "/models")
!3 = !DISubroutineType(types: !4)
!4 = !{}
!5 = distinct !DISubprogram(name: "k", file: !2, line: 20, type: !3, unit: !1, spFlags: DISPFlagDefinition)
!6 = !DILocation(line: 21, column: 1, scope: !5)
!7 = !DILocation(line: 28, column: 18, scope: !5)
)";
  const test::LoadedSlice slice = load(text);
  for (const uint32_t bad : {kThreads, 0u, 31u, 40u}) {
    std::vector<uint32_t> in(kThreads, 7), out(kThreads, 1), report(1, 0);
    if (bad < kThreads) in[bad] = 10;
    test::Launch launch;
    launch.grid = {kThreads, 1, 1};
    launch.group = {kThreads, 1, 1};
    launch.bind(0, in).bind(1, out).bind(2, report);
    slice.run("k", launch);
    CHECK(report[0] == (bad < kThreads ? 28u : 0u));
    for (uint32_t t = 0; t < kThreads; ++t) CHECK(out[t] == (t == bad ? 1u : 7u));
  }
}
