// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

namespace smelt::test::reference {
namespace {

class Generator {
 public:
  Generator(uint32_t seed, const Features& features) : state_(seed * 2654435761u + 12345), features_(features) {}

  Program program() {
    Program result;
    // Who is alone under control flow that threads may take differently has no barriers in it.
    result.body = block(3, 6, true, false);
    Statement last;
    last.kind = Statement::Kind::finish;
    last.a = mix();
    result.body.push_back(std::move(last));
    result.collectives = used_collectives_;
    result.shared = used_shared_;
    return result;
  }

 private:
  uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  uint32_t below(uint32_t bound) { return next() % bound; }
  bool chance(uint32_t percent) { return below(100) < percent; }

  std::unique_ptr<Expression> leaf(Expression::Kind kind, uint32_t value = 0) {
    auto e = std::make_unique<Expression>();
    e->kind = kind;
    e->value = value;
    return e;
  }

  /// All variables, so that a wrong one shows.
  std::unique_ptr<Expression> mix() {
    auto sum = leaf(Expression::Kind::variable, 0);
    for (uint32_t v = 1; v < kVariables; ++v) {
      auto product = leaf(Expression::Kind::multiply);
      product->a = std::move(sum);
      product->b = leaf(Expression::Kind::constant, 31);
      auto more = leaf(Expression::Kind::add);
      more->a = std::move(product);
      more->b = leaf(Expression::Kind::variable, v);
      sum = std::move(more);
    }
    return sum;
  }

  std::unique_ptr<Expression> uniform(unsigned depth) {
    const uint32_t choice = below(depth == 0 ? 3 : 5);
    if (choice == 0) return leaf(Expression::Kind::constant, below(5));
    if (choice == 1) return leaf(Expression::Kind::parameter, below(kParameters));
    if (choice == 2) {
      if (uniform_counters_.empty()) return leaf(Expression::Kind::group, below(3));
      return leaf(Expression::Kind::counter, uniform_counters_[below(static_cast<uint32_t>(uniform_counters_.size()))]);
    }
    auto e = leaf(choice == 3 ? Expression::Kind::add : Expression::Kind::bit_xor);
    e->a = uniform(depth - 1);
    e->b = uniform(depth - 1);
    return e;
  }

  std::unique_ptr<Expression> expression(unsigned depth) {
    if (depth == 0 || chance(25)) {
      switch (below(10)) {
        case 0:
          return leaf(Expression::Kind::constant, chance(50) ? below(8) : next());
        case 1:
          return leaf(Expression::Kind::parameter, below(kParameters));
        case 2:
          return leaf(Expression::Kind::thread_index);
        case 3:
          return leaf(features_.collectives ? Expression::Kind::lane : Expression::Kind::thread_index);
        case 4:
          return leaf(Expression::Kind::position, below(3));
        case 5:
          return loops_ > 0 ? leaf(Expression::Kind::counter, below(loops_)) : leaf(Expression::Kind::group, below(3));
        case 6:
          return leaf(features_.collectives ? Expression::Kind::simdgroup : Expression::Kind::thread_index);
        default:
          return leaf(Expression::Kind::variable, below(kVariables));
      }
    }
    static constexpr Expression::Kind kKinds[] = {
        Expression::Kind::add,          Expression::Kind::subtract,    Expression::Kind::multiply,
        Expression::Kind::bit_and,      Expression::Kind::bit_or,      Expression::Kind::bit_xor,
        Expression::Kind::shift_left,   Expression::Kind::shift_right, Expression::Kind::shift_arithmetic,
        Expression::Kind::divide,       Expression::Kind::remainder,   Expression::Kind::signed_divide,
        Expression::Kind::less,         Expression::Kind::signed_less, Expression::Kind::equal,
        Expression::Kind::choose,       Expression::Kind::narrow_8,    Expression::Kind::narrow_16,
        Expression::Kind::wide_product, Expression::Kind::as_float,    Expression::Kind::input,
        Expression::Kind::own_word};
    auto e = leaf(kKinds[below(std::size(kKinds))]);
    e->a = expression(depth - 1);
    e->b = expression(depth - 1);
    if (e->kind == Expression::Kind::choose) e->c = expression(depth - 1);
    return e;
  }

  /// `together`: all threads of the group run this block, so barriers may stand in it. `in_loop`: leave and skip may.
  Block block(unsigned depth, uint32_t statements, bool together, bool in_loop) {
    Block result;
    for (uint32_t i = 0; i < 1 + below(statements); ++i) result.push_back(statement(depth, together, in_loop));
    return result;
  }

  Statement statement(unsigned depth, bool together, bool in_loop) {
    Statement s;
    s.variable = below(kVariables);
    const uint32_t choice = below(100);
    if (depth > 0 && choice < 18) {
      const bool same = together && chance(40);
      s.kind = Statement::Kind::branch;
      s.a = same ? uniform(2) : expression(2);
      s.first = block(depth - 1, 4, same, in_loop);
      if (chance(60)) s.second = block(depth - 1, 4, same, in_loop);
    } else if (depth > 0 && choice < 24) {
      s.kind = Statement::Kind::select_case;
      s.a = expression(2);
      s.first = block(depth - 1, 2, false, false);
      s.second = block(depth - 1, 2, false, false);
      s.third = block(depth - 1, 2, false, false);
    } else if (depth > 0 && choice < 40) {
      loop(s, depth, together);
    } else if (in_loop && choice < 45) {
      s.kind = chance(50) ? Statement::Kind::leave : Statement::Kind::skip;
      return guarded(std::move(s));
    } else if (features_.early_returns && choice < 47) {
      s.kind = Statement::Kind::finish;
      s.a = mix();
      return guarded(std::move(s));
    } else if (features_.barriers && together && choice < 58) {
      used_shared_ = true;
      s.kind = chance(60) ? Statement::Kind::exchange : Statement::Kind::count;
      s.a = expression(2);
      s.b = expression(2);
    } else if (features_.collectives && choice < 72) {
      used_collectives_ = true;
      s.kind = Statement::Kind::collective;
      s.operation = below(kOperations);
      s.a = expression(2);
      s.b = expression(1);
    } else if (choice < 78) {
      s.kind = Statement::Kind::add_to_bin;
      s.a = expression(1);
      s.b = expression(2);
    } else if (choice < 84) {
      s.kind = Statement::Kind::store_word;
      s.a = expression(1);
      s.b = expression(2);
    } else {
      s.kind = Statement::Kind::assign;
      s.a = expression(3);
    }
    return s;
  }

  void loop(Statement& s, unsigned depth, bool together) {
    const bool same = together && chance(50);
    s.kind = Statement::Kind::loop;
    s.a = same ? uniform(1) : expression(1);
    s.depth = loops_++;
    if (same) uniform_counters_.push_back(s.depth);
    s.first = block(depth - 1, 4, same, true);
    // One thread that leaves early makes the rest of the loop its own affair: then no barrier may stand in it.
    if (same) {
      uniform_counters_.pop_back();
      if (may_leave(s.first)) drop_barriers(s.first);
    }
    --loops_;
  }

  static bool may_leave(const Block& block) {
    for (const Statement& s : block) {
      if (s.kind == Statement::Kind::leave || s.kind == Statement::Kind::skip) return true;
      if (s.kind != Statement::Kind::loop && (may_leave(s.first) || may_leave(s.second) || may_leave(s.third)))
        return true;
    }
    return false;
  }

  static void drop_barriers(Block& block) {
    for (Statement& s : block) {
      if (s.kind == Statement::Kind::exchange || s.kind == Statement::Kind::count) s.kind = Statement::Kind::assign;
      for (Block* inner : {&s.first, &s.second, &s.third}) drop_barriers(*inner);
    }
  }

  Statement guarded(Statement inner) {
    Statement s;
    s.kind = Statement::Kind::branch;
    s.a = expression(2);
    s.first.push_back(std::move(inner));
    return s;
  }

  uint32_t state_;
  Features features_;
  uint32_t loops_ = 0;
  std::vector<uint32_t> uniform_counters_;
  bool used_collectives_ = false;
  bool used_shared_ = false;
};

}  // namespace

Program generate(uint32_t seed, const Features& features) {
  return Generator(seed, features).program();
}

}  // namespace smelt::test::reference
