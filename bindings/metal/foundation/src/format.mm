// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats: C's conversions, one by one through snprintf, and %@.
#include <cstdio>
#include <cstring>
#include <ctime>

#include "internal.hpp"

namespace smelt::foundation {

namespace {

struct Conversion {
  std::string text;  // as it stands in the format, stars resolved
  char kind = 0;
  std::string size;  // hh, h, l, ll, q, L, j, z, t or none
};

template <typename Value>
void print(std::string& to, const Conversion& conversion, Value value) {
  char buffer[512];
  const int length = snprintf(buffer, sizeof buffer, conversion.text.c_str(), value);
  if (length < 0) return;
  if (static_cast<size_t>(length) < sizeof buffer) {
    to.append(buffer, static_cast<size_t>(length));
    return;
  }
  std::string longer(static_cast<size_t>(length) + 1, 0);
  snprintf(longer.data(), longer.size(), conversion.text.c_str(), value);
  to.append(longer, 0, static_cast<size_t>(length));
}

void print_integer(std::string& to, Conversion conversion, long long value) {
  // As long long, whatever it was.
  conversion.text.erase(conversion.text.size() - 1 - conversion.size.size());
  conversion.text += "ll";
  conversion.text += conversion.kind;
  print(to, conversion, value);
}

}  // namespace

// The list is taken apart in one function, as a va_list can be handed on only once.
NSString* format_list(NSString* format, va_list list) {
  std::string made;
  const char* at = [format UTF8String];
  while (at != nullptr && *at != 0) {
    if (*at != '%') {
      const size_t plain = strcspn(at, "%");
      made.append(at, plain);
      at += plain;
      continue;
    }
    Conversion conversion;
    conversion.text = *at++;
    for (; *at != 0 && strchr("-+ #0123456789.*'", *at) != nullptr; ++at) {
      if (*at == '*')
        conversion.text += std::to_string(va_arg(list, int));
      else
        conversion.text += *at;
    }
    for (; *at != 0 && strchr("hlqLjzt", *at) != nullptr; ++at) conversion.size += *at;
    conversion.text += conversion.size;
    if (*at == 0) break;
    conversion.kind = *at++;
    conversion.text += conversion.kind;
    const std::string& size = conversion.size;
    const bool is_long = size == "l" || size == "ll" || size == "q" || size == "j" || size == "z" || size == "t";
    switch (conversion.kind) {
      case '%': made += '%'; break;
      case '@': {
        const id object = va_arg(list, id);
        made += object != nil ? text_of([object description]) : std::string_view("(null)");
        break;
      }
      case 'd': case 'i': {
        long long value = is_long ? va_arg(list, long long) : va_arg(list, int);
        if (size == "h") value = static_cast<short>(value);
        if (size == "hh") value = static_cast<signed char>(value);
        print_integer(made, conversion, value);
        break;
      }
      case 'u': case 'x': case 'X': case 'o': {
        unsigned long long value = is_long ? va_arg(list, unsigned long long) : va_arg(list, unsigned);
        if (size == "h") value = static_cast<unsigned short>(value);
        if (size == "hh") value = static_cast<unsigned char>(value);
        print_integer(made, conversion, static_cast<long long>(value));
        break;
      }
      case 'c': case 'C': print(made, conversion, va_arg(list, int)); break;
      case 's': {
        const char* text = va_arg(list, const char*);
        print(made, conversion, text != nullptr ? text : "(null)");
        break;
      }
      case 'p': print(made, conversion, va_arg(list, void*)); break;
      case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
        if (size == "L")
          print(made, conversion, va_arg(list, long double));
        else
          print(made, conversion, va_arg(list, double));
        break;
      default: raise(NSInvalidArgumentException, "'%s' is not a conversion of a format", conversion.text.c_str());
    }
  }
  return string_of(made);
}

}  // namespace smelt::foundation

void NSLog(NSString* format, ...) {
  va_list list;
  va_start(list, format);
  const std::string text(smelt::foundation::text_of(smelt::foundation::format_list(format, list)));
  va_end(list);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  localtime_r(&now.tv_sec, &parts);
  char date[32];
  strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts);
  fprintf(stderr, "%s.%03ld %s[%d] %s\n", date, now.tv_nsec / 1000000, program_invocation_short_name, getpid(),
          text.c_str());
}
