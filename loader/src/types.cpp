#include "smelt/loader/types.hpp"

#include "smelt/loader/device.hpp"

namespace smelt::loader {

std::string to_string(const Version& version) {
  if (version.patch != 0) return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  return fmt::format("{}.{}", version.major, version.minor);
}

std::string_view to_string(Platform platform) {
  switch (platform) {
    case Platform::none:
      return "none";
    case Platform::macos:
      return "macOS";
    case Platform::ios:
      return "iOS";
    case Platform::tvos:
      return "tvOS";
    case Platform::watchos:
      return "watchOS";
    case Platform::visionos:
      return "visionOS";
  }
  return "unknown";
}

std::string_view to_string(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::kernel:
      return "kernel";
    case FunctionKind::vertex:
      return "vertex";
    case FunctionKind::fragment:
      return "fragment";
    case FunctionKind::unqualified:
      return "unqualified";
    case FunctionKind::visible:
      return "visible";
    case FunctionKind::external:
      return "extern";
    case FunctionKind::intersection:
      return "intersection";
    case FunctionKind::mesh:
      return "mesh";
    case FunctionKind::object:
      return "object";
  }
  return "unknown";
}

std::string_view to_string(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::buffer:
      return "buffer";
    case ArgumentKind::threadgroup:
      return "threadgroup";
    case ArgumentKind::texture:
      return "texture";
    case ArgumentKind::sampler:
      return "sampler";
    case ArgumentKind::indirect_buffer:
      return "indirect_buffer";
    case ArgumentKind::function_table:
      return "function_table";
    case ArgumentKind::acceleration_structure:
      return "acceleration_structure";
    case ArgumentKind::other:
      return "other";
  }
  return "unknown";
}

std::string_view to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::automatic:
      return "automatic";
    case DeviceKind::metal:
      return "metal";
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::offline:
      return "offline";
  }
  return "unknown";
}

OwnedBytes copy_of(ByteView bytes) {
  auto copy = std::make_shared<const Bytes>(bytes.begin(), bytes.end());
  const ByteView view = *copy;
  return {view, std::move(copy)};
}

}  // namespace smelt::loader
