// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text as a path, and URLs of files.
#include <cstring>

#include "internal.hpp"

using namespace smelt::foundation;

namespace {
std::string_view without_end(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}
std::string_view last(std::string_view path) {
  path = without_end(path);
  return path == "/" ? path : path.substr(path.rfind('/') + 1);
}
// Where the extension's dot is; npos for none, or for a name that only begins with a dot.
size_t dot_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == 0 ? std::string_view::npos : dot;
}
}  // namespace

@implementation NSString (NSStringPathExtensions)
+ (NSString*)pathWithComponents:(NSArray*)components {
  NSString* path = @"";
  for (NSString* component in components) path = [path stringByAppendingPathComponent:component];
  return path;
}
- (NSArray*)pathComponents {
  NSMutableArray* parts = [NSMutableArray array];
  std::string_view path = text_of(self);
  if (path.starts_with('/')) [parts addObject:@"/"];
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    if (end != 0) [parts addObject:string_of(path.substr(0, end))];
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}
- (NSString*)lastPathComponent {
  return string_of(last(text_of(self)));
}
- (NSString*)pathExtension {
  const std::string_view name = last(text_of(self));
  const size_t dot = dot_of(name);
  return string_of(dot == std::string_view::npos ? "" : name.substr(dot + 1));
}
- (NSString*)stringByDeletingLastPathComponent {
  const std::string_view path = without_end(text_of(self));
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return @"";
  return string_of(slash == 0 ? "/" : without_end(path.substr(0, slash)));
}
- (NSString*)stringByDeletingPathExtension {
  const std::string_view path = without_end(text_of(self));
  const size_t dot = dot_of(last(path));
  return string_of(dot == std::string_view::npos ? path : path.substr(0, path.size() - last(path).size() + dot));
}
- (NSString*)stringByAppendingPathComponent:(NSString*)component {
  std::string path(without_end(text_of(self)));
  std::string_view more = text_of(component);
  if (!path.empty()) {
    while (more.starts_with('/')) more.remove_prefix(1);
    if (path != "/" && !more.empty()) path += '/';
  }
  return string_of(without_end(path.append(more)));
}
- (NSString*)stringByAppendingPathExtension:(NSString*)extension {
  return string_of(std::string(without_end(text_of(self))).append(".").append(text_of(extension)));
}
- (BOOL)isAbsolutePath {
  return text_of(self).starts_with('/');
}
- (const char*)fileSystemRepresentation {
  return [self UTF8String];
}
@end

@implementation NSURL {
  NSString* path_;
}
+ (instancetype)fileURLWithPath:(NSString*)path {
  return [[[self alloc] initFileURLWithPath:path] autorelease];
}
+ (instancetype)fileURLWithPath:(NSString*)path isDirectory:(BOOL)folder {
  return [self fileURLWithPath:path];
}
+ (instancetype)URLWithString:(NSString*)text {
  return [[[self alloc] initWithString:text] autorelease];
}
- (instancetype)initFileURLWithPath:(NSString*)path {
  if (!path) raise(NSInvalidArgumentException, "a URL cannot be made of nil");
  if (path.absolutePath) {
    path_ = [path copy];
  } else {
    path_ = [[[NSFileManager defaultManager].currentDirectoryPath stringByAppendingPathComponent:path] retain];
  }
  return self;
}
- (instancetype)initWithString:(NSString*)text {
  const std::string_view whole = text_of(text);
  constexpr std::string_view kFile = "file://";
  if (!whole.starts_with(kFile) && whole.find("://") != std::string_view::npos) {  // no file's
    [self release];
    return nil;
  }
  std::string path;
  for (std::string_view rest = whole.substr(whole.starts_with(kFile) ? kFile.size() : 0); !rest.empty();) {
    unsigned code = 0;
    if (rest.size() >= 3 && rest[0] == '%' && sscanf(std::string(rest.substr(1, 2)).c_str(), "%2x", &code) == 1) {
      path += static_cast<char>(code);
      rest.remove_prefix(3);
    } else {
      path += rest[0];
      rest.remove_prefix(1);
    }
  }
  return [self initFileURLWithPath:string_of(path)];
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (NSString*)path {
  return path_;
}
- (NSString*)absoluteString {
  std::string text = "file://";
  char code[4];
  for (const char c : text_of(path_)) {
    const bool plain = isalnum(static_cast<unsigned char>(c)) || strchr("/-._~!$&'()*+,;=:@", c) != nullptr;
    snprintf(code, sizeof code, "%%%02X", static_cast<unsigned char>(c));
    text += plain ? std::string(1, c) : code;
  }
  return string_of(text);
}
- (NSString*)lastPathComponent {
  return path_.lastPathComponent;
}
- (NSString*)pathExtension {
  return path_.pathExtension;
}
- (BOOL)isFileURL {
  return YES;
}
- (const char*)fileSystemRepresentation {
  return [path_ UTF8String];
}
- (NSURL*)URLByAppendingPathComponent:(NSString*)component {
  return [NSURL fileURLWithPath:[path_ stringByAppendingPathComponent:component]];
}
- (NSURL*)URLByAppendingPathExtension:(NSString*)extension {
  return [NSURL fileURLWithPath:[path_ stringByAppendingPathExtension:extension]];
}
- (NSURL*)URLByDeletingLastPathComponent {
  return [NSURL fileURLWithPath:path_.stringByDeletingLastPathComponent];
}
- (NSURL*)URLByDeletingPathExtension {
  return [NSURL fileURLWithPath:path_.stringByDeletingPathExtension];
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSURL class]] && [path_ isEqualToString:[other path]];
}
- (NSUInteger)hash {
  return path_.hash;
}
- (NSString*)description {
  return self.absoluteString;
}
- (void)dealloc {
  [path_ release];
  [super dealloc];
}
@end
