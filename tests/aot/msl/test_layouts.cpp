// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random structures as smelt lays them out, beside Clang's own vectors in the same structures. Vectors and matrices are
// classes in our headers and types of the language in Metal, so the reference has Clang's vectors and arrays of them.
// It is compiled for macOS, where a packed structure packs members of every kind, and with vectors of 32 bytes.
//
// SMELT_LAYOUTS: how many structures (scripts/nightly takes 10,000); SMELT_LAYOUTS_SEED: the first seed;
// SMELT_LAYOUTS_KEEP: a file for the structures of the last seed.
#include "smelt/base/files.hpp"

#include "entry_text.hpp"
#include "files.hpp"
#include "skips.hpp"

#include <cstdlib>
#include <random>

namespace smelt::test {
namespace {

constexpr const char* kScalars[] = {"bool", "char", "uchar", "short", "ushort", "int",
                                    "uint", "long", "ulong", "half",  "bfloat", "float"};

/// Clang's own types by Metal's names.
std::string reference_types() {
  std::string text =
      "typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint;\n"
      "typedef unsigned long ulong; typedef _Float16 half; typedef __bf16 bfloat;\n";
  for (const char* name : kScalars)
    for (int lanes = 2; lanes <= 4; ++lanes) {
      const std::string kept = std::string(name) == "bool" ? "uchar" : name;  // Clang's vectors of bool are bits
      text += fmt::format("typedef {0} {1}{2} __attribute__((ext_vector_type({2}))); typedef {0} packed_{1}{2}[{2}];\n",
                          kept, name, lanes);
    }
  for (const char* name : {"float", "half"})
    for (int columns = 2; columns <= 4; ++columns)
      for (int rows = 2; rows <= 4; ++rows)
        text += fmt::format("typedef {0}{2} {0}{1}x{2}[{1}];\n", name, columns, rows);
  return text;
}

struct Structure {
  std::string name, text;
  std::vector<std::string> members;  ///< that have an offset, also of bases
  bool is_union = false;
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Structure make(size_t index, const std::vector<Structure>& others) {
    Structure made;
    made.name = fmt::format("S{}", index);
    made.is_union = chance(10);
    const int packing = chance(12) ? 1 << pick(4) : 0;
    if (packing != 0) made.text += fmt::format("#pragma pack(push, {})\n", packing);
    made.text += made.is_union ? "union " : "struct ";
    if (chance(30)) made.text += "__attribute__((packed)) ";
    if (chance(10)) made.text += fmt::format("__attribute__((aligned({}))) ", 1 << (3 + pick(4)));
    made.text += made.name;
    if (!made.is_union && chance(35)) add_base(made, others);
    made.text += " {\n";
    const size_t count = pick(12) == 0 ? 0 : 1 + pick(5);
    for (size_t i = 0; i < count; ++i) add_member(made, index, i, others);
    if (!made.is_union && chance(15))
      made.text += fmt::format("  {}(){}\n", made.name, chance(50) ? " {}" : " = default;");
    made.text += "};\n";
    if (packing != 0) made.text += "#pragma pack(pop)\n";
    return made;
  }

 private:
  size_t pick(size_t count) { return random_() % count; }
  bool chance(size_t percent) { return pick(100) < percent; }

  static const Structure* find(const std::vector<Structure>& others, size_t at, bool may_be_union) {
    return at < others.size() && (may_be_union || !others[at].is_union) ? &others[at] : nullptr;
  }

  void add_base(Structure& made, const std::vector<Structure>& others) {
    if (others.empty()) return;
    const Structure* base = find(others, pick(others.size()), false);
    if (base == nullptr) return;
    made.text += " : " + base->name;
    made.members = base->members;
    const Structure* second = chance(25) ? find(others, pick(others.size()), false) : nullptr;
    // What both have would be ambiguous, as with a common base.
    if (second == nullptr ||
        std::any_of(second->members.begin(), second->members.end(),
                    [&](const std::string& one) {
                      return std::find(made.members.begin(), made.members.end(), one) != made.members.end();
                    }) ||
        second == base || second->text.find(" : ") != std::string::npos || base->text.find(" : ") != std::string::npos)
      return;
    made.text += ", " + second->name;
    made.members.insert(made.members.end(), second->members.begin(), second->members.end());
  }

  std::string type(const std::vector<Structure>& others) {
    const std::string scalar = kScalars[pick(std::size(kScalars))];
    switch (pick(8)) {
      case 0:
      case 1:
        return scalar;
      case 2:
      case 3:
        return fmt::format("{}{}", scalar, 2 + pick(3));
      case 4:
        return fmt::format("packed_{}{}", scalar, 2 + pick(3));
      case 5:
        return fmt::format("{}{}x{}", chance(50) ? "float" : "half", 2 + pick(3), 2 + pick(3));
      case 6:
        if (!others.empty()) return others[pick(others.size())].name;
        return "float3";
      default:
        return "float3";
    }
  }

  void add_member(Structure& made, size_t index, size_t number, const std::vector<Structure>& others) {
    const std::string name = fmt::format("m{}_{}", index, number);
    if (chance(12)) {
      constexpr std::pair<const char*, size_t> kFields[] = {
          {"uint", 32}, {"int", 32}, {"uchar", 8}, {"ushort", 16}, {"ulong", 64}};
      const auto& [field, width] = kFields[pick(std::size(kFields))];
      made.text += fmt::format("  {} {} : {};\n", field, name, 1 + pick(width));
      return;
    }
    // A union's member with a constructor would take the union's own.
    const std::string of = made.is_union ? type({}) : type(others);
    made.text += "  ";
    if (chance(8)) made.text += "__attribute__((aligned(32))) ";
    made.text += of + " " + name;
    if (chance(15)) made.text += fmt::format("[{}]", 1 + pick(3));
    if (chance(6)) made.text += " __attribute__((packed))";
    made.text += ";\n";
    made.members.push_back(name);
  }

  std::mt19937 random_;
};

/// What is compared of each, in order: its numbers, and what they are called.
void add_numbers(const Structure& one, std::vector<std::string>& numbers) {
  numbers.push_back(fmt::format("sizeof({})", one.name));
  numbers.push_back(fmt::format("alignof({})", one.name));
  for (const char* trait :
       {"__is_pod", "__is_trivial", "__is_trivially_copyable", "__is_standard_layout", "__is_aggregate", "__is_empty"})
    numbers.push_back(fmt::format("{}({})", trait, one.name));
  for (const std::string& member : one.members)
    numbers.push_back(fmt::format("__builtin_offsetof({}, {})", one.name, member));
}

std::string table(const std::vector<std::string>& numbers) {
  std::string text = "[] = {\n";
  for (const std::string& number : numbers) text += "  " + number + ",\n";
  return text + "};\n";
}

std::vector<uint64_t> reference_numbers(const std::string& text, const std::vector<std::string>& numbers) {
  const TemporaryFolder folder;
  const auto source = folder / "reference.cpp", made = folder / "reference.ll";
  const std::string whole = reference_types() + text + "extern \"C\" const unsigned long layout" + table(numbers);
  REQUIRE(write_file(source, as_bytes(whole)));
  const std::string command = fmt::format(
      "clang++-19 --target=x86_64-apple-macosx13 -mavx -std=c++17 -ffreestanding -w -S -emit-llvm -Xclang "
      "-disable-llvm-passes -o '{}' '{}'",
      made.string(), source.string());
  REQUIRE_MESSAGE(std::system(command.c_str()) == 0, whole);
  const std::string ir(as_text(must_read(made)));
  const size_t at = ir.find("@layout =");
  REQUIRE(at != std::string::npos);
  const std::string line = ir.substr(at, ir.find('\n', at) - at);
  std::vector<uint64_t> found;
  const std::regex number(R"([\[ ]i64 (\d+))");
  for (auto one = std::sregex_iterator(line.begin(), line.end(), number); one != std::sregex_iterator(); ++one)
    found.push_back(std::stoull((*one)[1]));
  if (found.empty()) found.assign(numbers.size(), 0);  // zeroinitializer
  return found;
}

void compare(uint32_t seed, size_t count) {
  Generator generator(seed);
  std::vector<Structure> all;
  std::string text;
  std::vector<std::string> numbers;
  std::vector<size_t> whose;
  for (size_t i = 0; i < count; ++i) {
    all.push_back(generator.make(i, all));
    text += all.back().text;
    add_numbers(all.back(), numbers);
    whose.resize(numbers.size(), i);
  }
  if (const char* const kept = std::getenv("SMELT_LAYOUTS_KEEP")) REQUIRE(write_file(kept, as_bytes(text)));
  const Msl source(kHead + text + "constant ulong kLayout" + table(numbers) +
                   "kernel void k(device ulong* out, uint t [[thread_position_in_grid]]) { out[t] = kLayout[t]; }\n");
  std::vector<uint64_t> got(numbers.size(), ~uint64_t{0});
  const auto threads = static_cast<uint32_t>(numbers.size());
  source.run("k", Launch{.grid = {threads, 1, 1}, .group = {1, 1, 1}}.bind(0, got));
  const std::vector<uint64_t> want = reference_numbers(text, numbers);
  REQUIRE(want.size() == got.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    INFO("seed ", seed, ": ", numbers[i], "\n", all[whose[i]].text);
    CHECK(got[i] == want[i]);
  }
}

size_t number_from(const char* variable, size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoul(text);
}

}  // namespace

TEST_CASE("structures are laid out as with vectors that are types of the language") {
  if (std::system("clang++-19 --version > /dev/null 2>&1") != 0) return skipped("there is no clang++-19");
  constexpr size_t kTogether = 100;
  const size_t wanted = number_from("SMELT_LAYOUTS", 300), first = number_from("SMELT_LAYOUTS_SEED", 1);
  for (size_t done = 0; done < wanted; done += kTogether)
    compare(static_cast<uint32_t>(first + done / kTogether), std::min(kTogether, wanted - done));
}

TEST_CASE("what a packed structure holds is read and written where it lies") {
  const Msl source(kHead + R"(
struct __attribute__((packed)) Packed { uchar a; float2 b; float3x3 c; packed_half3 d; uint4 e; };
struct Own { float4 v; Own() {} };
struct __attribute__((packed)) Others { uchar a; Own own; };
struct Inside { uchar a; Packed p[2]; };
static float sum(float4 v) { return v.x + v.y + v.z + v.w; }
static float column(const thread float3x3& m, int i) { return m[i].y; }
kernel void k(device Packed* in, device float* out, device Others* others, threadgroup Inside* shared,
              uint t [[thread_position_in_grid]]) {
  device Packed& p = in[t + 1];
  p.b += 1.0f;
  p.b.yx = p.b;
  p.e.wz = uint2(7, 9);
  p.e[1] = 5;
  p.c[2] *= 2.0f;
  p.c *= 2.0f;
  Packed own = p;
  own.b *= 3.0f;
  shared->p[1] = own;
  shared->p[1].b.y -= 1.0f;
  others[1].own.v = float4(1, 2, 3, 4);
  others[1].own.v.zw += 1.0f;
  out[0] = p.b.x; out[1] = p.b.y; out[2] = float(p.e.w + p.e.z + p.e[1]); out[3] = column(own.c, 2);
  out[4] = shared->p[1].b.x; out[5] = shared->p[1].b.y; out[6] = sum(others[1].own.v); out[7] = float(p.d.z);
  out[8] = (p.c * float3(1)).x; out[9] = sizeof(Packed); out[10] = sizeof(Others);
}
)");
  std::vector<std::byte> in(3 * 96), others(64);
  std::vector<float> out(11);
  // 1 + 8 + 48 + 6 + 16 bytes make 79.
  const auto put_packed = [&](size_t at, float value) { std::memcpy(in.data() + 79 + at, &value, sizeof value); };
  put_packed(1, 10);
  put_packed(5, 20);
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) put_packed(9 + 16 * i + 4 * j, static_cast<float>(1 + 3 * i + j));
  const uint16_t half_two = 0x4000;
  std::memcpy(in.data() + 79 + 57 + 4, &half_two, 2);
  Launch launch{.grid = {1, 1, 1}, .group = {1, 1, 1}};
  launch.bind(0, in).bind(1, out).bind(2, others);
  launch.threadgroup_bytes[0] = 1024;
  source.run("k", launch);
  CHECK(out == std::vector<float>{21, 11, 21, 32, 63, 32, 12, 2, 2 * (1 + 4 + 14), 79, 17});
}

}  // namespace smelt::test
