// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where objects go whose space their type does not say: a graph of places (parameters, variables, members, results, the
// objects of methods), all of the default space, and of who hands his object on to whom. Clang binds an object of any
// space to such a place, and then takes what is for the thread's memory.
//
//   int f(thread const Tag& x) { return x.which(); }       x is used by `which`, which has variants for other spaces
//   int g(thread const Tag& x) { return f(x); }            g's x goes to f's x
//   ... g(*d) ...                                          an object in device memory enters at g's x: not to be had
#pragma once

#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceLocation.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <cstdint>
#include <vector>

namespace smelt::aot::msl {

/// What took a place's object for the thread's.
struct SpaceUse {
  const clang::FunctionDecl* taken = nullptr;
  bool of_object = false;    ///< as a method of it, not as an argument
  uint8_t wrong_spaces = 0;  ///< bit by AIR's number: there, another variant would be the right one, or none
};

class SpaceFlow {
 public:
  using Place = unsigned;

  /// A parameter, variable or member, as what it refers or points to.
  Place of(const clang::ValueDecl& declaration);
  /// What `this` points to in a method or constructor that names no space.
  Place object_of(const clang::CXXMethodDecl& method) { return intern(method.getCanonicalDecl(), kObject); }
  Place parameter_of(const clang::FunctionDecl& function, unsigned index) {
    return intern(function.getCanonicalDecl(), kParameter + index);
  }
  /// What one call gives.
  Place result_of(const clang::CallExpr& call) { return intern(&call, kResult); }

  void flows(Place from, Place to);
  void uses(Place place, const SpaceUse& use) { uses_.push_back({place, use}); }
  /// An object in space `space`, not the thread's, is bound to the place. `method`: as its object.
  void enters(unsigned space, Place place, clang::SourceLocation at, const clang::CXXMethodDecl* method = nullptr) {
    entries_.push_back({space, place, at, method});
  }

  struct Entry {
    unsigned space;
    Place place;
    clang::SourceLocation at;
    const clang::CXXMethodDecl* method;
  };
  struct Fault {
    Entry entry;
    SpaceUse use;
  };
  /// The entries whose object reaches a use that is wrong for their space.
  std::vector<Fault> faults() const;

 private:
  static constexpr unsigned kObject = 0, kResult = 1, kParameter = 2;
  static constexpr unsigned kSpaces = 7;  ///< AIR's numbers; 5 is not the language's

  Place intern(const void* owner, unsigned role);

  struct Used {
    Place place;
    SpaceUse use;
  };
  llvm::DenseMap<std::pair<const void*, unsigned>, Place> places_;
  std::vector<std::vector<Place>> from_;  ///< whose objects a place has, by place
  std::vector<Used> uses_;
  std::vector<Entry> entries_;
};

}  // namespace smelt::aot::msl
