// Every air.* operation that the tests of this program have called: name and type must be those of the table of AIR
// operations, and of Apple's own bitcode where that has them (tests/aot/data/air-harvest.tsv). Runs last, by its name.
#include "air/intrinsics.hpp"
#include "harvest.hpp"
#include "msl_library.hpp"

#include <doctest/doctest.h>

#include <map>

namespace smelt::test {
namespace {

TEST_CASE("operations: those called are known, with the types that Apple's bitcode has") {
  const auto& seen = operations_seen();
  if (seen.empty()) {
    MESSAGE("SKIPPED: no other test of this program has run");
    return;
  }
  std::map<std::string, std::string> harvested;
  for (const HarvestRow& row : harvest()) harvested[row.name] = row.type;
  const aot::Version air = aot::parse_target("macos15").value().air;
  size_t exact = 0, same_operation = 0, sourced = 0;
  std::string inferred;
  for (const std::string& name : seen) {
    const auto found = aot::air::lookup(name, air);
    CHECK_MESSAGE(found.has_value(), name);
    if (!found) continue;
    if (const auto row = harvested.find(name); row != harvested.end()) {
      CHECK_MESSAGE(row->second == aot::air::typed_text(*found), name);
      ++exact;
    } else if (found->evidence == aot::air::Evidence::harvested) {
      ++same_operation;
    } else if (found->evidence == aot::air::Evidence::sourced) {
      ++sourced;
    } else {
      inferred += " " + name;
    }
  }
  MESSAGE(seen.size(), " operations: ", exact, " as in Apple's bitcode, ", same_operation,
          " of other types of an operation there, ", sourced, " from published compilers");
  MESSAGE("inferred:", inferred.empty() ? " none" : inferred);
}

}  // namespace
}  // namespace smelt::test
