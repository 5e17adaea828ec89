// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source, cut into tokens and put together wrongly. A mutant depends on the corpus, the seed and its number
// alone, so that any of them can be made again.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace smelt::test {

enum class TokenKind { word, number, text, mark };

struct Token {
  TokenKind kind = TokenKind::mark;
  std::string text;
  bool first_on_line = false;
  bool spaced = true;  ///< something blank is in front of it: `f (x)` in a macro is not `f(x)`
};

/// Comments and white space are dropped; a directive of the preprocessor keeps its line to itself when it is written.
std::vector<Token> tokens_of(std::string_view source);
std::string text_of(const std::vector<Token>& tokens);

struct CorpusFile {
  std::string name;
  std::vector<Token> tokens;
};

/// `sources` are mutated; they and `donors` give the tokens and lines that are spliced in.
class Mutator {
 public:
  Mutator(std::vector<CorpusFile> sources, std::vector<CorpusFile> donors, uint64_t seed);

  struct Mutant {
    std::string name;  ///< of the source it comes from
    std::string text;
  };
  Mutant make(uint64_t number) const;

 private:
  using Random = std::mt19937_64;
  void change(std::vector<Token>& tokens, Random& random) const;
  void splice_tokens(std::vector<Token>& tokens, Random& random) const;
  void splice_lines(std::vector<Token>& tokens, Random& random) const;
  const CorpusFile& any_file(Random& random) const;

  std::vector<CorpusFile> sources_, donors_;
  uint64_t seed_;
};

}  // namespace smelt::test
