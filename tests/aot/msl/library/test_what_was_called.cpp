// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of this program have called, judged at the end: this file runs last, by its name.
//   air.* operations   name and type are those of the table of AIR operations, and of Apple's own bitcode where that
//   has
//                      them (tests/aot/data/air-harvest.tsv)
//   functions          every one that the headers declare (functions.py lists them) was called, or a reason is given
#include "files.hpp"
#include "harvest.hpp"
#include "msl_library.hpp"
#include "ops/intrinsics.hpp"

#include <doctest/doctest.h>

#include <map>
#include <sstream>

namespace smelt::test {
namespace {

TEST_CASE("operations: those called are known, with the types that Apple's bitcode has") {
  const auto& seen = operations_seen();
  if (seen.empty()) {
    MESSAGE("no other test of this program has run");
    return;
  }
  std::map<std::string, std::string> harvested;
  for (const HarvestRow& row : harvest()) harvested[row.name] = row.type;
  const aot::Version air = aot::parse_target("macos15").value().air, newest = aot::newest_target().air;
  size_t exact = 0, same_operation = 0, sourced = 0;
  std::string inferred;
  for (const std::string& name : seen) {
    auto found = aot::air::lookup(name, air);
    if (!found) found = aot::air::lookup(name, newest);
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

#ifdef SMELT_LIBRARY_FUNCTIONS
TEST_CASE("functions: every one that the headers declare was called") {
  if (calls_seen().size() < 100) {
    MESSAGE("the other tests of this program have not run");
    return;
  }
  const std::string of_stages = "of vertex and fragment functions: tests/aot/msl/test_stages.cpp",
                    of_meshes = "of mesh and object functions: tests/aot/msl/test_mesh.cpp",
                    of_tensors = "for targets from 26.2: tests/cli/test_tensors.py";
  const std::map<std::string, std::string> not_called = {
      {"declval", "has no value: for unevaluated operands"},
      {"discard_fragment", of_stages},
      {"dfdx", of_stages},
      {"dfdy", of_stages},
      {"fwidth", of_stages},
      {"get_num_samples", of_stages},
      {"get_sample_position", of_stages},
      {"interpolant::interpolate_at_center", of_stages},
      {"interpolant::interpolate_at_centroid", of_stages},
      {"interpolant::interpolate_at_offset", of_stages},
      {"interpolant::interpolate_at_sample", of_stages},
      {"is_null_visible_function_table", "of tables: tests/aot/msl/test_function_tables.cpp"},
      {"is_null_texture", "of textures: tests/aot/textures/test_handles.cpp"},
      {"mesh::set_index", of_meshes},
      {"mesh::set_indices", of_meshes},
      {"mesh::set_primitive", of_meshes},
      {"mesh::set_primitive_count", of_meshes},
      {"mesh::set_vertex", of_meshes},
      {"mesh_grid_properties::set_threadgroups_per_grid", of_meshes},
      {"os_log_default", "an object"},
      {"mpp::tensor_ops::is_iterator_compatible", of_tensors},
      {"mpp::tensor_ops::matmul2d::get_column_reduction_destination_cooperative_tensor", of_tensors},
      {"mpp::tensor_ops::matmul2d::get_destination_cooperative_tensor", of_tensors},
      {"mpp::tensor_ops::matmul2d::get_left_input_cooperative_tensor", of_tensors},
      {"mpp::tensor_ops::matmul2d::get_right_input_cooperative_tensor", of_tensors},
      {"mpp::tensor_ops::matmul2d::get_row_reduction_destination_cooperative_tensor", of_tensors},
      {"mpp::tensor_ops::matmul2d::is_compatible_as_left_input", of_tensors},
      {"mpp::tensor_ops::matmul2d::is_compatible_as_right_input", of_tensors},
      {"mpp::tensor_ops::matmul2d::run", of_tensors},
      {"mpp::tensor_ops::reduce_columns", of_tensors},
      {"mpp::tensor_ops::reduce_rows", of_tensors},
  };
  std::istringstream names(std::string(as_text(must_read(SMELT_LIBRARY_FUNCTIONS))));
  size_t called = 0;
  std::string missing;
  for (std::string name; std::getline(names, name);) {
    // Ray tracing does not run here: tests/aot/msl/test_ray_tracing.cpp reads what is made of it.
    if (name.starts_with("raytracing::")) continue;
    // Nor do commands: tests/aot/msl/test_commands.cpp.
    if (name.starts_with("command_buffer::") || name.find("_command::") != std::string::npos) continue;
    // Of a member its own name counts.
    const bool variant = name.starts_with("fast::") || name.starts_with("precise::");
    const size_t scope = variant ? std::string::npos : name.rfind("::");
    const bool was_called = calls_seen().count(scope == std::string::npos ? name : name.substr(scope + 2)) != 0;
    CHECK_MESSAGE((!was_called || not_called.count(name) == 0), name << " is called and needs no reason");
    called += was_called;
    if (!was_called && not_called.count(name) == 0) missing += " " + name;
  }
  CHECK_MESSAGE(missing.empty(), "not called:" << missing);
  MESSAGE(called, " functions called, ", not_called.size(), " with a reason not to be");
}
#endif

}  // namespace
}  // namespace smelt::test
