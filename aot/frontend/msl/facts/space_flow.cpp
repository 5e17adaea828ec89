// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/facts/space_flow.hpp"

namespace smelt::aot::msl {

SpaceFlow::Place SpaceFlow::intern(const void* owner, unsigned role) {
  const auto [known, is_new] = places_.try_emplace({owner, role}, static_cast<Place>(from_.size()));
  if (is_new) from_.emplace_back();
  return known->second;
}

SpaceFlow::Place SpaceFlow::of(const clang::ValueDecl& declaration) {
  // A parameter has a declaration for each of its function's.
  if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(&declaration))
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(parameter->getDeclContext()))
      return parameter_of(*function, parameter->getFunctionScopeIndex());
  return intern(declaration.getCanonicalDecl(), kObject);
}

void SpaceFlow::flows(Place from, Place to) {
  if (from != to) from_[to].push_back(from);
}

std::vector<SpaceFlow::Fault> SpaceFlow::faults() const {
  // From the uses back to where objects enter. A place keeps the first use of each space.
  std::vector<std::array<const SpaceUse*, kSpaces>> found(from_.size(), std::array<const SpaceUse*, kSpaces>{});
  std::vector<Place> changed;
  const auto note = [&](Place place, unsigned space, const SpaceUse* use) {
    if (use == nullptr || found[place][space] != nullptr) return;
    found[place][space] = use;
    changed.push_back(place);
  };
  for (const auto& [place, use] : uses_)
    for (unsigned space = 1; space < kSpaces; ++space)
      if ((use.wrong_spaces >> space & 1) != 0) note(place, space, &use);
  while (!changed.empty()) {
    const Place place = changed.back();
    changed.pop_back();
    for (const Place before : from_[place])
      for (unsigned space = 1; space < kSpaces; ++space) note(before, space, found[place][space]);
  }
  std::vector<Fault> faults;
  for (const Entry& entry : entries_)
    if (const SpaceUse* use = found[entry.place][entry.space]; use != nullptr) faults.push_back({entry, *use});
  return faults;
}

}  // namespace smelt::aot::msl
