// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels: a small language that becomes AIR (emit.cpp) and can also be run directly, all threads of a group in
// lock step under masks (evaluate.cpp). The second says what the first must compute; it shares no code with the
// compiler and knows nothing of barriers, regions or lanes, because threads in lock step need none.
//
// All values are u32. A kernel reads `parameters` (buffer 0), `input` (buffer 1) and writes `output` (buffer 2, one
// word a thread) and `bins` (buffer 3, by atomic addition). Programs have no data races: threads write shared memory at
// their own index, and read other threads' only between barriers that all of them reach.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace smelt::test::reference {

inline constexpr unsigned kVariables = 6;
inline constexpr unsigned kPrivateWords = 8;
inline constexpr unsigned kParameters = 8;
inline constexpr unsigned kInputWords = 256;
inline constexpr unsigned kBins = 16;
inline constexpr unsigned kSharedWords = 1024;

struct Expression {
  enum class Kind {
    constant,
    variable,
    counter,    // of the loop at this depth
    parameter,  // the same for all threads
    input,      // input[a % kInputWords]
    own_word,   // private array at a
    thread_index,
    lane,
    simdgroup,
    position,  // in the grid, component `value`
    group,     // position of the threadgroup, component `value`
    add,
    subtract,
    multiply,
    bit_and,
    bit_or,
    bit_xor,
    shift_left,
    shift_right,
    shift_arithmetic,
    divide,     // by b | 1
    remainder,  // by b | 1
    signed_divide,
    less,
    signed_less,
    equal,
    choose,        // a ? b : c
    narrow_8,      // sign-extended from 8 bits
    narrow_16,     // zero-extended from 16 bits
    wide_product,  // upper half of a 64-bit product
    as_float,      // u32(float(a & 0xffff) * 0.5f + float(b & 0xff))
  };
  Kind kind = Kind::constant;
  uint32_t value = 0;
  std::unique_ptr<Expression> a, b, c;
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  enum class Kind {
    assign,       // variable = a
    store_word,   // private[a] = b
    branch,       // if (a) first else second
    select_case,  // switch (a & 3): first, second, third with fall-through from first to second
    loop,         // counter from 0 while counter < a (at most 6); body first
    leave,        // break
    skip,         // continue
    finish,       // return, output = a
    add_to_bin,   // bins[a % kBins] += b
    exchange,     // shared[own] = a; barrier; variable = shared[b % threads]; barrier
    count,        // shared counter[a & 3] += b by atomics; barrier; variable = counter[variable & 3]; barrier
    collective,   // variable = operation(a, b) over the active lanes
  };
  Kind kind = Kind::assign;
  uint32_t variable = 0;
  uint32_t operation = 0;  // collective: Collective
  uint32_t depth = 0;      // loop: which counter
  std::unique_ptr<Expression> a, b;
  Block first, second, third;
};

enum class Operation : uint32_t {
  sum,
  minimum,
  signed_maximum,
  bit_or,
  bit_xor,
  prefix_inclusive,
  prefix_exclusive,
  ballot,
  all,
  any,
  is_first,
  broadcast_first,
  shuffle,      // of lane b & 31 when it is active, else 7
  shuffle_xor,  // b & 31, the same
  shuffle_down,
  quad_sum,
  quad_shuffle_xor,
  barrier,  // air.simdgroup.barrier; gives a
};
inline constexpr unsigned kOperations = 18;

struct Program {
  Block body;
  bool collectives = false;
  bool shared = false;
};

struct Features {
  bool collectives = true;
  bool barriers = true;
  bool early_returns = true;
};

Program generate(uint32_t seed, const Features& features);

/// LLVM IR text of a kernel named `name`.
std::string emit(const Program& program, const std::string& name);

struct Data {
  std::vector<uint32_t> parameters, input, output, bins;
};

/// Runs the whole grid.
void evaluate(const Program& program, const std::array<uint32_t, 3>& grid, const std::array<uint32_t, 3>& group,
              Data& data);

}  // namespace smelt::test::reference
