// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's surroundings: its folder as a bundle, the process, the time.
#include "Foundation/values.hpp"
#include "device_model.hpp"
#include "foundation/made.hpp"

#include <sched.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace smelt::metal {
namespace {

namespace fs = std::filesystem;

class BundleObject final : public NS::Bundle {
 public:
  fs::path folder, program;
  std::string_view class_name() const override { return "NSBundle"; }
  std::string file(const NS::String* name, const NS::String* extension) const {
    std::string leaf = text_of(name);
    if (const std::string ending = text_of(extension); !ending.empty()) leaf += "." + ending;
    std::error_code none;
    for (const fs::path& place : {folder / leaf, folder / "Resources" / leaf})
      if (fs::exists(place, none)) return place.string();
    return {};
  }
};

class ProcessObject final : public NS::ProcessInfo {
 public:
  std::string_view class_name() const override { return "NSProcessInfo"; }
};

class DateObject final : public NS::Date {
 public:
  double seconds = 0;
  std::string_view class_name() const override { return "NSDate"; }
};

const BundleObject& from(const NS::Bundle* bundle) {
  return static_cast<const BundleObject&>(*bundle);
}

NS::URL* url_of(const std::string& path) {
  return NS::URL::fileURLWithPath(string_of(path));
}

}  // namespace
}  // namespace smelt::metal

namespace NS {
using namespace smelt::metal;

Bundle* Bundle::mainBundle() {
  static BundleObject* const bundle = [] {
    auto* made = new BundleObject;
    std::error_code none;
    made->program = fs::read_symlink("/proc/self/exe", none);
    made->folder = made->program.parent_path();
    return made;
  }();
  return bundle;
}
Bundle* Bundle::bundle(const String* path) {
  Bundle* const made = alloc()->init(path);
  return made != nullptr ? made->autorelease() : nullptr;
}
Bundle* Bundle::alloc() {
  return new BundleObject;
}
Bundle* Bundle::init(const String* path) {
  std::error_code none;
  auto& bundle = static_cast<BundleObject&>(*this);
  bundle.folder = text_of(path);
  if (fs::is_directory(bundle.folder, none)) return this;
  release();
  return nullptr;
}
String* Bundle::bundlePath() const {
  return string_of(from(this).folder.string());
}
URL* Bundle::bundleURL() const {
  return url_of(from(this).folder.string());
}
String* Bundle::resourcePath() const {
  return bundlePath();
}
URL* Bundle::resourceURL() const {
  return bundleURL();
}
String* Bundle::executablePath() const {
  return string_of(from(this).program.string());
}
String* Bundle::pathForResource(const String* name, const String* extension) const {
  const std::string path = from(this).file(name, extension);
  return path.empty() ? nullptr : string_of(path);
}
URL* Bundle::URLForResource(const String* name, const String* extension) const {
  const std::string path = from(this).file(name, extension);
  return path.empty() ? nullptr : url_of(path);
}

Date* Date::dateWithTimeIntervalSinceNow(TimeInterval seconds) {
  auto* date = new DateObject;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  date->seconds = std::chrono::duration<double>(now).count() + seconds;
  date->autorelease();
  return date;
}
TimeInterval Date::timeIntervalSince1970() const {
  return static_cast<const DateObject*>(this)->seconds;
}

ProcessInfo* ProcessInfo::processInfo() {
  static ProcessObject* const process = new ProcessObject;
  return process;
}
String* ProcessInfo::processName() const {
  return string_of(from(Bundle::mainBundle()).program.filename().string());
}
int ProcessInfo::processIdentifier() const {
  return ::getpid();
}
UInteger ProcessInfo::processorCount() const {
  return static_cast<UInteger>(::sysconf(_SC_NPROCESSORS_CONF));
}
UInteger ProcessInfo::activeProcessorCount() const {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<UInteger>(CPU_COUNT(&set));
  return static_cast<UInteger>(::sysconf(_SC_NPROCESSORS_ONLN));
}
unsigned long long ProcessInfo::physicalMemory() const {
  return static_cast<unsigned long long>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<unsigned long long>(::sysconf(_SC_PAGESIZE));
}
TimeInterval ProcessInfo::systemUptime() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
OperatingSystemVersion ProcessInfo::operatingSystemVersion() const {
  return {smelt::metal::device_model().system(), 0, 0};
}
bool ProcessInfo::isOperatingSystemAtLeastVersion(OperatingSystemVersion version) const {
  const OperatingSystemVersion mine = operatingSystemVersion();
  if (version.majorVersion != mine.majorVersion) return version.majorVersion < mine.majorVersion;
  if (version.minorVersion != mine.minorVersion) return version.minorVersion < mine.minorVersion;
  return version.patchVersion <= mine.patchVersion;
}

}  // namespace NS
