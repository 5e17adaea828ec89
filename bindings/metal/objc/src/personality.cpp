// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the handlers of Objective-C's frames. The language-specific data is what Clang writes for C++ too (the LSDA of
// the Itanium ABI: call sites, actions, types), but a type is the name of a class, "@id" for every object, or null for
// everything. Its bytes come from the program itself, as code does.
#include "exceptions.hpp"

#include <cstring>

namespace {

using smelt::objc::is_kind_of;
using smelt::objc::thrown_object;

// DWARF's encodings of pointers: four bits of format, three of what it is relative to, one for a pointer to it.
enum : uint8_t {
  kAbsolute = 0x00,
  kUleb = 0x01,
  kU2 = 0x02,
  kU4 = 0x03,
  kU8 = 0x04,
  kSleb = 0x09,
  kS2 = 0x0a,
  kS4 = 0x0b,
  kS8 = 0x0c,
  kRelative = 0x10,
  kIndirect = 0x80,
  kOmitted = 0xff,
};

struct Reader {
  const uint8_t* at;

  uint64_t uleb() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = *at++;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return value;
    }
  }
  int64_t sleb() {
    int64_t value = 0;
    for (int shift = 0;;) {
      const uint8_t byte = *at++;
      value |= int64_t{byte & 0x7f} << shift;
      shift += 7;
      if (byte & 0x80) continue;
      if ((byte & 0x40) && shift < 64) value |= -(int64_t{1} << shift);
      return value;
    }
  }
  template <typename Type>
  uintptr_t fixed() {
    Type value;
    memcpy(&value, at, sizeof value);
    at += sizeof value;
    return static_cast<uintptr_t>(static_cast<intptr_t>(value));
  }
  uintptr_t pointer(uint8_t encoding) {
    const uint8_t* start = at;
    uintptr_t value = 0;
    switch (encoding & 0x0f) {
      case kAbsolute:
        value = fixed<uintptr_t>();
        break;
      case kUleb:
        value = uleb();
        break;
      case kSleb:
        value = static_cast<uintptr_t>(sleb());
        break;
      case kU2:
        value = fixed<uint16_t>();
        break;
      case kS2:
        value = fixed<int16_t>();
        break;
      case kU4:
        value = fixed<uint32_t>();
        break;
      case kS4:
        value = fixed<int32_t>();
        break;
      case kU8:
        value = fixed<uint64_t>();
        break;
      case kS8:
        value = fixed<int64_t>();
        break;
      default:
        smelt::objc::fatal("an exception table has pointers of encoding %#x", encoding);
    }
    if (value == 0) return 0;
    if ((encoding & 0x70) == kRelative) value += reinterpret_cast<uintptr_t>(start);
    if (encoding & kIndirect) value = *reinterpret_cast<const uintptr_t*>(value);
    return value;
  }
};

size_t size_of(uint8_t encoding) {
  switch (encoding & 0x0f) {
    case kU2:
    case kS2:
      return 2;
    case kU4:
    case kS4:
      return 4;
    default:
      return 8;
  }
}

struct Table {
  uintptr_t landing_start = 0;
  uint8_t type_encoding = kOmitted, site_encoding = 0;
  const uint8_t *types = nullptr, *sites = nullptr, *actions = nullptr;
};

Table read_table(const uint8_t* data, _Unwind_Context* context) {
  Table table;
  Reader reader{data};
  const uint8_t start_encoding = *reader.at++;
  table.landing_start = start_encoding == kOmitted ? _Unwind_GetRegionStart(context) : reader.pointer(start_encoding);
  table.type_encoding = *reader.at++;
  if (table.type_encoding != kOmitted) {
    const uint64_t offset = reader.uleb();
    table.types = reader.at + offset;
  }
  table.site_encoding = *reader.at++;
  const uint64_t length = reader.uleb();
  table.sites = reader.at;
  table.actions = reader.at + length;
  return table;
}

struct Found {
  uintptr_t landing = 0;
  int64_t selector = 0;
  bool handler = false;  // else only a cleanup
};

// The actions of one call site, the innermost handler first. Another language's exceptions meet only what takes all.
void choose(const Table& table, const uint8_t* record, bool ours, id object, Found& found) {
  for (;;) {
    Reader reader{record};
    const int64_t type = reader.sleb();
    const uint8_t* link = reader.at;
    const int64_t next = reader.sleb();
    if (type > 0) {
      Reader entry{table.types - static_cast<size_t>(type) * size_of(table.type_encoding)};
      const auto* name = reinterpret_cast<const char*>(entry.pointer(table.type_encoding));
      const bool takes = name == nullptr || (ours && (strcmp(name, "@id") == 0 || is_kind_of(object, name)));
      if (takes) {
        found.selector = type;
        found.handler = true;
        return;
      }
    }
    if (next == 0) return;
    record = link + next;
  }
}

Found find(const Table& table, _Unwind_Context* context, _Unwind_Exception* exception) {
  int before = 0;
  const uintptr_t ip = _Unwind_GetIPInfo(context, &before) - (before == 0 ? 1 : 0);
  const uintptr_t start = _Unwind_GetRegionStart(context);
  Found found;
  for (Reader reader{table.sites}; reader.at < table.actions;) {
    const uintptr_t begin = reader.pointer(table.site_encoding);
    const uintptr_t length = reader.pointer(table.site_encoding);
    const uintptr_t landing = reader.pointer(table.site_encoding);
    const uint64_t action = reader.uleb();
    if (ip < start + begin) return found;
    if (ip >= start + begin + length) continue;
    if (landing == 0) return found;
    found.landing = table.landing_start + landing;
    id object = nullptr;
    const bool ours = thrown_object(exception, &object);
    if (action != 0) choose(table, table.actions + action - 1, ours, object, found);
    return found;
  }
  return found;
}

}  // namespace

SMELT_OBJC_EXPORT _Unwind_Reason_Code __gnustep_objc_personality_v0(int version, _Unwind_Action actions, uint64_t,
                                                                    _Unwind_Exception* exception,
                                                                    _Unwind_Context* context) {
  const auto* data = static_cast<const uint8_t*>(_Unwind_GetLanguageSpecificData(context));
  if (version != 1) return _URC_FATAL_PHASE1_ERROR;
  if (data == nullptr) return _URC_CONTINUE_UNWIND;
  const Found found = find(read_table(data, context), context, exception);
  if (found.landing == 0) return _URC_CONTINUE_UNWIND;
  if (actions & _UA_SEARCH_PHASE) return found.handler ? _URC_HANDLER_FOUND : _URC_CONTINUE_UNWIND;
  const bool forced = (actions & _UA_FORCE_UNWIND) != 0;  // a thread's end: cleanups alone
  const int64_t selector = found.handler && !forced ? found.selector : 0;
  _Unwind_SetGR(context, __builtin_eh_return_data_regno(0), reinterpret_cast<uintptr_t>(exception));
  _Unwind_SetGR(context, __builtin_eh_return_data_regno(1), static_cast<uintptr_t>(selector));
  _Unwind_SetIP(context, found.landing);
  return _URC_INSTALL_CONTEXT;
}

extern "C" _Unwind_Reason_Code __gxx_personality_v0(int, _Unwind_Action, uint64_t, _Unwind_Exception*,
                                                    _Unwind_Context*);
/** Objective-C++: type_info objects say what is caught (exceptions.cpp). */
SMELT_OBJC_EXPORT _Unwind_Reason_Code __gnustep_objcxx_personality_v0(int version, _Unwind_Action actions,
                                                                      uint64_t kind, _Unwind_Exception* exception,
                                                                      _Unwind_Context* context) {
  return __gxx_personality_v0(version, actions, kind, exception, context);
}
