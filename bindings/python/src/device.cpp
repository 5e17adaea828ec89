// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices.
#include "smelt/loader/device.hpp"

#include "smelt/base/seconds.hpp"

#include "docstrings.hpp"
#include "errors.hpp"
#include "kernel.hpp"
#include "signals.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <tuple>

namespace smelt::python {
namespace {

using namespace pybind11::literals;

loader::Version version_from(const py::handle& pair) {
  const auto [major, minor, patch] = py::cast<std::tuple<uint16_t, uint16_t, uint16_t>>(pair);
  return {major, minor, patch};
}

/// What an offline device pretends to be: the oldest machine that a target is for. `target` is what
/// _compiler.target_facts says of it: which versions a name stands for is the compiler's knowledge.
loader::DeviceProfile profile_of(const py::dict& target) {
  loader::DeviceProfile profile;
  loader::Target& of = profile.target;
  of.name = py::cast<std::string>(target["name"]);
  const auto platform = py::cast<std::string>(target["platform"]);
  of.platform = platform_of_word(platform).value_or(Platform::none);
  of.min_os = version_from(target["os"]);
  of.metal = version_from(target["metal"]);
  of.air = version_from(target["air"]);
  profile.name = "offline " + of.name;
  return profile;
}

loader::DeviceRef open_device(const std::string& kind, unsigned threads, const std::string& cpu_level,
                              const std::optional<std::string>& target, double launch_limit) {
  loader::DeviceOptions options;
  options.launch_limit = unwrap(limit_from_seconds(launch_limit, "launch_limit"));
  options.interrupted = signals_arrived;
  options.threads = threads;
  options.cpu_level = cpu_level;
  loader::DeviceProfile profile;
  if (target) {
    if (kind != "offline")
      raise(Errc::invalid_argument, "target: only an offline device can have another target; got kind '{}'", kind);
    profile = profile_of(py::module_::import("smelt._compiler").attr("target_facts")(*target));
    options.profile = &profile;
  }
  for (const auto known :
       {loader::DeviceKind::automatic, loader::DeviceKind::metal, loader::DeviceKind::cpu, loader::DeviceKind::offline})
    if (kind == loader::to_string(known)) {
      auto opened = [&] {
        const GilReleased released;
        return loader::Device::open(known, options);
      }();
      return unwrap(std::move(opened));
    }
  raise(Errc::invalid_argument, "device '{}': want automatic, metal, cpu or offline", kind);
}

}  // namespace

void bind_device(py::module_& module) {
  py::class_<loader::Device, loader::DeviceRef>(module, "Device", kDevice)
      .def(py::init(&open_device), "kind"_a = "automatic", py::kw_only(), "threads"_a = 0, "cpu_level"_a = "",
           "target"_a = py::none(), "launch_limit"_a = 0.0)
      .def_property_readonly("kind", [](const loader::Device& device) { return text(to_string(device.kind())); })
      .def_property_readonly("name", [](const loader::Device& device) { return text(device.name()); })
      .def_property_readonly("target", [](const loader::Device& device) { return device.target().name; })
      .def_property_readonly("limits_estimated", &loader::Device::limits_estimated)
      .def_property_readonly("limits",
                             [](const loader::Device& device) {
                               const loader::Limits& limits = device.limits();
                               return py::dict("max_threads_per_threadgroup"_a = limits.max_threads_per_threadgroup,
                                               "max_threadgroup_memory"_a = limits.max_threadgroup_memory,
                                               "thread_execution_width"_a = limits.thread_execution_width,
                                               "buffer_slots"_a = limits.buffer_slots,
                                               "inline_bytes"_a = limits.inline_bytes);
                             })
      .def("__repr__", [](const loader::Device& device) { return fmt::format("<smelt.Device {}>", device.name()); });
}

}  // namespace smelt::python
