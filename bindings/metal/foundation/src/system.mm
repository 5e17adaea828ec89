// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The process, its bundle, and files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <thread>
#include <vector>

#include "internal.hpp"

using namespace smelt::foundation;

namespace smelt::foundation {

void file_error(NSError** error, int code, int posix_error, NSString* path) {
  if (!error) return;
  NSError* cause = [NSError errorWithDomain:NSPOSIXErrorDomain code:posix_error userInfo:nil];
  NSString* text = [NSString stringWithFormat:@"%@: %s", path, strerror(posix_error)];
  *error = [NSError errorWithDomain:NSCocoaErrorDomain
                               code:code
                           userInfo:@{
                             NSLocalizedDescriptionKey : text,
                             NSFilePathErrorKey : path ? path : @"",
                             NSUnderlyingErrorKey : cause
                           }];
}

bool read_file(const char* path, std::string& bytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char buffer[65536];
  ssize_t got = 0;
  while ((got = read(file, buffer, sizeof buffer)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    bytes.append(buffer, static_cast<size_t>(got));
  }
  const int trouble = errno;
  close(file);
  errno = trouble;
  return got == 0;
}

bool write_file(const char* path, std::string_view bytes, bool atomically) {
  std::string at = path;
  if (atomically) at += "." + std::to_string(getpid()) + ".new";
  FILE* file = fopen(at.c_str(), "wbe");
  if (file == nullptr) return false;
  const bool written = fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if ((fclose(file) == 0 && written) && (!atomically || rename(at.c_str(), path) == 0)) return true;
  const int trouble = errno;
  if (atomically) unlink(at.c_str());
  errno = trouble;
  return false;
}

}  // namespace smelt::foundation

namespace {
std::string executable() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}
std::vector<std::string> split_at_zero(const char* path) {
  std::string bytes;
  std::vector<std::string> parts;
  read_file(path, bytes);
  for (size_t at = 0; at < bytes.size(); at += parts.back().size() + 1) parts.emplace_back(bytes.c_str() + at);
  return parts;
}
}  // namespace

@implementation NSProcessInfo
+ (NSProcessInfo*)processInfo {
  static NSProcessInfo* one = [NSProcessInfo new];
  return one;
}
// The first is the program's whole path, as on a Mac.
- (NSArray*)arguments {
  NSMutableArray* all = [NSMutableArray array];
  for (const std::string& argument : split_at_zero("/proc/self/cmdline"))
    [all addObject:string_of(all.count == 0 ? executable() : argument)];
  return all;
}
- (NSDictionary*)environment {
  NSMutableDictionary* all = [NSMutableDictionary dictionary];
  for (char** entry = environ; entry && *entry; ++entry)
    if (const char* equals = strchr(*entry, '='))
      all[string_of({*entry, static_cast<size_t>(equals - *entry)})] = string_of(equals + 1);
  return all;
}
- (NSString*)processName {
  return string_of(executable()).lastPathComponent;
}
- (int)processIdentifier {
  return getpid();
}
- (NSString*)hostName {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return string_of(name);
}
- (NSUInteger)processorCount {
  return std::thread::hardware_concurrency();
}
- (NSUInteger)activeProcessorCount {
  return std::thread::hardware_concurrency();
}
- (unsigned long long)physicalMemory {
  return static_cast<unsigned long long>(sysconf(_SC_PHYS_PAGES)) * static_cast<unsigned long long>(sysconf(_SC_PAGESIZE));
}
- (NSTimeInterval)systemUptime {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
- (NSOperatingSystemVersion)operatingSystemVersion {
  return {__MAC_OS_X_VERSION_MAX_ALLOWED / 10000, __MAC_OS_X_VERSION_MAX_ALLOWED / 100 % 100, 0};
}
- (NSString*)operatingSystemVersionString {
  const NSOperatingSystemVersion version = self.operatingSystemVersion;
  return [NSString stringWithFormat:@"Version %ld.%ld", version.majorVersion, version.minorVersion];
}
- (BOOL)isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion)wanted {
  const NSOperatingSystemVersion have = self.operatingSystemVersion;
  if (have.majorVersion != wanted.majorVersion) return have.majorVersion > wanted.majorVersion;
  if (have.minorVersion != wanted.minorVersion) return have.minorVersion > wanted.minorVersion;
  return have.patchVersion >= wanted.patchVersion;
}
@end

@implementation NSBundle {
  NSString* path_;
}
+ (NSBundle*)mainBundle {
  static NSBundle* one = [[NSBundle alloc] initWithPath:string_of(executable()).stringByDeletingLastPathComponent];
  return one;
}
+ (NSBundle*)bundleForClass:(Class)of {
  return [self mainBundle];
}
+ (instancetype)bundleWithPath:(NSString*)path {
  return [[[self alloc] initWithPath:path] autorelease];
}
- (instancetype)initWithPath:(NSString*)path {
  BOOL folder = NO;
  if ([[NSFileManager defaultManager] fileExistsAtPath:path isDirectory:&folder] && folder) {
    path_ = [path copy];
    return self;
  }
  [self release];
  return nil;
}
- (NSString*)bundlePath {
  return path_;
}
- (NSURL*)bundleURL {
  return [NSURL fileURLWithPath:path_];
}
- (NSString*)resourcePath {
  return path_;
}
- (NSURL*)resourceURL {
  return [NSURL fileURLWithPath:path_];
}
- (NSString*)executablePath {
  return string_of(executable());
}
- (NSString*)bundleIdentifier {
  return nil;
}
- (NSString*)pathForResource:(NSString*)name ofType:(NSString*)extension {
  NSString* path = [path_ stringByAppendingPathComponent:name];
  if (extension.length != 0) path = [path stringByAppendingPathExtension:extension];
  return name && [[NSFileManager defaultManager] fileExistsAtPath:path] ? path : nil;
}
- (NSURL*)URLForResource:(NSString*)name withExtension:(NSString*)extension {
  NSString* path = [self pathForResource:name ofType:extension];
  return path ? [NSURL fileURLWithPath:path] : nil;
}
- (void)dealloc {
  [path_ release];
  [super dealloc];
}
@end

NSFileAttributeKey const NSFileType = @"NSFileType";
NSFileAttributeKey const NSFileSize = @"NSFileSize";
NSFileAttributeType const NSFileTypeRegular = @"NSFileTypeRegular";
NSFileAttributeType const NSFileTypeDirectory = @"NSFileTypeDirectory";
NSFileAttributeType const NSFileTypeSymbolicLink = @"NSFileTypeSymbolicLink";
NSFileAttributeType const NSFileTypeUnknown = @"NSFileTypeUnknown";

@implementation NSFileManager
+ (NSFileManager*)defaultManager {
  static NSFileManager* one = [NSFileManager new];
  return one;
}
- (NSString*)currentDirectoryPath {
  std::error_code ignored;
  return string_of(std::filesystem::current_path(ignored).string());
}
- (BOOL)fileExistsAtPath:(NSString*)path {
  return [self fileExistsAtPath:path isDirectory:nullptr];
}
- (BOOL)fileExistsAtPath:(NSString*)path isDirectory:(BOOL*)folder {
  struct stat status{};
  if (!path || stat([path UTF8String], &status) != 0) return NO;
  if (folder) *folder = S_ISDIR(status.st_mode);
  return YES;
}
- (BOOL)isReadableFileAtPath:(NSString*)path {
  return path && access([path UTF8String], R_OK) == 0;
}
- (NSDictionary*)attributesOfItemAtPath:(NSString*)path error:(NSError**)error {
  struct stat status{};
  if (!path || lstat([path UTF8String], &status) != 0) {
    file_error(error, NSFileReadNoSuchFileError, path ? errno : ENOENT, path);
    return nil;
  }
  return @{
    NSFileType : S_ISREG(status.st_mode)   ? NSFileTypeRegular
                 : S_ISDIR(status.st_mode) ? NSFileTypeDirectory
                 : S_ISLNK(status.st_mode) ? NSFileTypeSymbolicLink
                                           : NSFileTypeUnknown,
    NSFileSize : @(static_cast<unsigned long long>(status.st_size))
  };
}
- (NSString*)destinationOfSymbolicLinkAtPath:(NSString*)path error:(NSError**)error {
  std::error_code trouble;
  const auto to = std::filesystem::read_symlink([path UTF8String], trouble);
  if (!trouble) return string_of(to.string());
  file_error(error, NSFileReadUnknownError, trouble.value(), path);
  return nil;
}
- (BOOL)createDirectoryAtPath:(NSString*)path
  withIntermediateDirectories:(BOOL)all
                   attributes:(NSDictionary*)attributes
                        error:(NSError**)error {
  std::error_code trouble;
  if (all)
    std::filesystem::create_directories([path UTF8String], trouble);
  else if (!std::filesystem::create_directory([path UTF8String], trouble) && !trouble)
    trouble = std::make_error_code(std::errc::file_exists);
  if (trouble) file_error(error, NSFileWriteUnknownError, trouble.value(), path);
  return !trouble;
}
- (BOOL)removeItemAtPath:(NSString*)path error:(NSError**)error {
  std::error_code trouble;
  if (std::filesystem::remove_all([path UTF8String], trouble) != 0 && !trouble) return YES;
  file_error(error, NSFileNoSuchFileError, trouble ? trouble.value() : ENOENT, path);
  return NO;
}
- (BOOL)createDirectoryAtURL:(NSURL*)url
 withIntermediateDirectories:(BOOL)all
                  attributes:(NSDictionary*)attributes
                       error:(NSError**)error {
  return [self createDirectoryAtPath:url.path withIntermediateDirectories:all attributes:attributes error:error];
}
- (BOOL)removeItemAtURL:(NSURL*)url error:(NSError**)error {
  return [self removeItemAtPath:url.path error:error];
}
- (NSURL*)temporaryDirectory {
  return [NSURL fileURLWithPath:NSTemporaryDirectory()];
}
- (NSData*)contentsAtPath:(NSString*)path {
  return [NSData dataWithContentsOfFile:path];
}
@end

NSString* NSTemporaryDirectory(void) {
  std::error_code ignored;
  return string_of(std::filesystem::temp_directory_path(ignored).string() + "/");
}
