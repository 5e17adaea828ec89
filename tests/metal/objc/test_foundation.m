// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of Foundation that programs for Metal use.
#include <locale.h>
#include <stdlib.h>
#include <mach/vm_page_size.h>
#include <sys/sysctl.h>

#import <Foundation/Foundation.h>

#import "check.h"

static BOOL raises(NSString* name, void (^block)(void)) {
  @try {
    block();
  } @catch (NSException* e) {
    return [e.name isEqualToString:name];
  }
  return NO;
}

static void test_strings(void) {
  NSString* empty = @"";
  NSString* tiny = @"tiny";
  NSString* plain = @"a constant that is long";
  NSString* wide = @"gr\u00fc\u00df \U0001F600!";
  CHECK(empty.length == 0 && tiny.length == 4 && plain.length == 23 && wide.length == 8);
  CHECK(strcmp(wide.UTF8String, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80!") == 0 && strcmp(tiny.UTF8String, "tiny") == 0);
  CHECK([wide characterAtIndex:2] == 0xfc && [wide characterAtIndex:5] == 0xd83d && [tiny characterAtIndex:3] == 'y');
  CHECK([wide isEqualToString:[NSString stringWithUTF8String:wide.UTF8String]] && ![wide isEqual:@1]);
  CHECK([[wide substringWithRange:NSMakeRange(2, 2)] isEqualToString:@"\u00fc\u00df"]);
  CHECK([[wide substringFromIndex:7] isEqualToString:@"!"] && [[tiny substringToIndex:1] isEqualToString:@"t"]);
  CHECK(raises(NSRangeException, ^{ [tiny substringToIndex:5]; }));
  CHECK(raises(NSRangeException, ^{ [tiny characterAtIndex:4]; }));
  CHECK(raises(NSRangeException, ^{ [tiny substringFromIndex:5]; }));
  CHECK([plain hasPrefix:@"a "] && [plain hasSuffix:@"long"] && [plain containsString:@"that"] && ![plain containsString:@"x"]);
  CHECK([plain rangeOfString:@"that"].location == 11 && [wide rangeOfString:@"!"].location == 7);
  CHECK([plain rangeOfString:@"nowhere"].location == NSNotFound);
  CHECK([[@"a,b,,c" componentsSeparatedByString:@","] isEqualToArray:(@[ @"a", @"b", @"", @"c" ])]);
  CHECK([[@"a-b-c" stringByReplacingOccurrencesOfString:@"-" withString:@"+"] isEqualToString:@"a+b+c"]);
  CHECK([@"b" compare:@"a"] == NSOrderedDescending && [@"B" caseInsensitiveCompare:@"b"] == NSOrderedSame);
  CHECK([@" 42x" intValue] == 42 && [@"1.5e2" doubleValue] == 150 && [@"yes" boolValue] && ![@"0" boolValue]);
  NSString* made = [NSString stringWithFormat:@"%@ %d %5.2f|%-4s|%lu %c %% %x %@ %p %hhu %lld", @"x", -3, 1.5, "ab",
                                              (unsigned long)7, 'q', 255, nil, (void*)16, 257, 1LL << 40];
  CHECK([made isEqualToString:@"x -3  1.50|ab  |7 q % ff (null) 0x10 1 1099511627776"]);
  CHECK([[[NSString alloc] initWithBytes:"\xff" length:1 encoding:NSUTF8StringEncoding] autorelease] == nil);
  CHECK([[[[NSString alloc] initWithBytes:"\xfc" length:1 encoding:NSISOLatin1StringEncoding] autorelease] isEqual:@"\u00fc"]);
  CHECK([[wide dataUsingEncoding:NSUTF16StringEncoding] length] == 16 && [wide dataUsingEncoding:NSASCIIStringEncoding] == nil);
  NSMutableString* text = [NSMutableString stringWithString:@"ac"];
  [text insertString:@"b" atIndex:1];
  [text appendFormat:@"%d", 4];
  [text deleteCharactersInRange:NSMakeRange(0, 1)];
  CHECK([text isEqualToString:@"bc4"]);
  NSString* frozen = [text copy];
  [text setString:@"other"];
  CHECK([frozen isEqualToString:@"bc4"] && ![frozen isKindOfClass:[NSMutableString class]]);
  [frozen release];
}

static void test_paths(void) {
  CHECK([@"/a/b.c/d.tar.gz".lastPathComponent isEqualToString:@"d.tar.gz"] && [@"/a/d.tar.gz".pathExtension isEqual:@"gz"]);
  CHECK([@"/a/b/".stringByDeletingLastPathComponent isEqual:@"/a"] && [@"/a".stringByDeletingLastPathComponent isEqual:@"/"]);
  CHECK([@"a".stringByDeletingLastPathComponent isEqual:@""] && [@".hidden".pathExtension isEqual:@""]);
  CHECK([[@"/a/" stringByAppendingPathComponent:@"b"] isEqual:@"/a/b"] && [[@"" stringByAppendingPathComponent:@"b"] isEqual:@"b"]);
  CHECK([[NSString pathWithComponents:@[ @"/", @"a", @"b" ]] isEqual:@"/a/b"]);
  CHECK([@"/a//b".pathComponents isEqualToArray:(@[ @"/", @"a", @"b" ])]);
  CHECK([[@"/a/b.metal".stringByDeletingPathExtension stringByAppendingPathExtension:@"air"] isEqual:@"/a/b.air"]);
  NSURL* url = [NSURL fileURLWithPath:@"/a b/c.metallib"];
  CHECK([url.absoluteString isEqual:@"file:///a%20b/c.metallib"] && [[NSURL URLWithString:url.absoluteString] isEqual:url]);
  CHECK([NSURL URLWithString:@"https://example.org"] == nil && [NSURL fileURLWithPath:@"x"].path.absolutePath);
}

static void test_collections(void) {
  NSMutableArray* array = [NSMutableArray arrayWithObjects:@3, @1, @2, nil];
  CHECK(array.count == 3 && [array indexOfObject:@2] == 2 && [array indexOfObject:@9] == NSNotFound);
  CHECK([[array sortedArrayUsingSelector:@selector(compare:)] isEqualToArray:(@[ @1, @2, @3 ])]);
  CHECK([[[array reverseObjectEnumerator] nextObject] isEqual:@2]);
  [array insertObject:@0 atIndex:1];
  array[0] = @5;
  array[4] = @6;
  CHECK([array isEqualToArray:(@[ @5, @0, @1, @2, @6 ])]);
  [array removeObject:@1];
  [array removeLastObject];
  CHECK([array isEqualToArray:(@[ @5, @0, @2 ])] && [[array componentsJoinedByString:@"-"] isEqual:@"5-0-2"]);
  CHECK(raises(NSRangeException, ^{ [array objectAtIndex:3]; }) && raises(NSInvalidArgumentException, ^{ [array addObject:nil]; }));
  __block NSUInteger seen = 0;
  [array enumerateObjectsUsingBlock:^(id object, NSUInteger index, BOOL* stop) {
    ++seen;
    *stop = index == 1;
  }];
  CHECK(seen == 2);

  NSMutableDictionary* d = [NSMutableDictionary dictionary];
  for (int i = 0; i < 1000; ++i) d[[NSString stringWithFormat:@"key %d", i]] = @(i);
  for (int i = 0; i < 1000; i += 2) [d removeObjectForKey:[NSString stringWithFormat:@"key %d", i]];
  CHECK(d.count == 500 && [d[@"key 501"] isEqual:@501] && d[@"key 500"] == nil && d[@1.5] == nil);
  int sum = 0;
  for (NSString* key in d) sum += [d[key] intValue];
  CHECK(sum == 250000 && [[d.allKeys firstObject] isEqual:@"key 1"]);
  NSMutableString* key = [NSMutableString stringWithString:@"mine"];
  d[key] = @"kept";
  [key setString:@"changed"];
  CHECK([d[@"mine"] isEqual:@"kept"] && [[d copy] autorelease] != d && [[[d copy] autorelease] isEqual:d]);
  CHECK([(@{@"a" : @1}) isEqualToDictionary:[NSDictionary dictionaryWithObjectsAndKeys:@1, @"a", nil]]);

  NSMutableSet* set = [NSMutableSet setWithArray:@[ @1, @2, @1 ]];
  [set addObject:@3];
  [set removeObject:@1];
  CHECK(set.count == 2 && [set containsObject:@3] && ![set containsObject:@1]);
}

static void test_hash_tables(void) {
  NSHashTable* weak = [NSHashTable weakObjectsHashTable];
  NSHashTable* strong = [NSHashTable hashTableWithOptions:NSHashTableStrongMemory];
  NSMutableArray* kept = [[NSMutableArray alloc] initWithObjects:@"kept", nil];
  @autoreleasepool {
    NSMutableArray* going = [[NSMutableArray alloc] initWithObjects:@"going", nil];
    for (int i = 0; i < 2; ++i)
      for (id object in @[ kept, going ]) {
        [weak addObject:object];
        if (object == kept) [strong addObject:object];
      }
    CHECK(weak.count == 2 && strong.count == 1 && [weak containsObject:going] && [weak member:@[ @"kept" ]] == kept);
    [going release];
  }
  CHECK(weak.count == 1 && weak.anyObject == kept && [weak.allObjects isEqual:@[ kept ]] && [strong containsObject:kept]);
  int seen = 0;
  for (id object in weak) seen += object == kept;
  CHECK(seen == 1 && weak.setRepresentation.count == 1);
  [weak removeObject:kept];
  [strong removeAllObjects];
  CHECK(weak.count == 0 && strong.count == 0 && weak.anyObject == nil);
  [kept release];
}

static void test_uuids_and_files(void) {
  NSUUID* one = [NSUUID UUID];
  CHECK(one.UUIDString.length == 36 && ![one isEqual:[NSUUID UUID]] && [one.UUIDString characterAtIndex:14] == '4');
  CHECK([[[[NSUUID alloc] initWithUUIDString:one.UUIDString] autorelease] isEqual:one]);
  CHECK([[NSUUID alloc] initWithUUIDString:@"no uuid"] == nil);
  NSString* name = [one.UUIDString stringByAppendingPathExtension:@"bin"];
  NSURL* url = [[NSFileManager defaultManager].temporaryDirectory URLByAppendingPathComponent:name];
  NSData* data = [NSData dataWithBytes:"abc" length:3];
  NSError* error = nil;
  CHECK([data writeToURL:url options:NSDataWritingAtomic error:&error] && error == nil);
  CHECK([[NSData dataWithContentsOfURL:url] isEqual:data]);
  CHECK(![data writeToURL:url options:NSDataWritingWithoutOverwriting error:&error] && error.code == NSFileWriteFileExistsError);
  CHECK([[NSFileManager defaultManager] removeItemAtURL:url error:NULL]);
  CHECK(![[NSFileManager defaultManager] removeItemAtURL:url error:&error] && error != nil);
  error = nil;
  NSURL* nowhere = [NSURL fileURLWithPath:@"/no/such/folder/file"];
  CHECK(![data writeToURL:nowhere options:0 error:&error] && error.code == NSFileWriteUnknownError);
}

static void test_values(void) {
  CHECK([@1 isEqual:@1.0] && [@1 hash] == [@1.0 hash] && [@YES boolValue] && [@(1ull << 63) unsignedLongLongValue] == 1ull << 63);
  CHECK([@(-1) compare:@(~0ull)] == NSOrderedAscending && [@(1.5f).stringValue isEqual:@"1.5"] && [@(0.1).description isEqual:@"0.1"]);
  CHECK([@3.9 intValue] == 3 && strcmp([@3.9 objCType], "d") == 0 && strcmp([@'c' objCType], "c") == 0);
  __block int freed = 0;
  NSData* data = [[NSData alloc] initWithBytesNoCopy:(void*)"abc" length:3 deallocator:^(void* bytes, NSUInteger length) {
    freed += (int)length;
  }];
  CHECK(data.length == 3 && [data isEqualToData:[NSData dataWithBytes:"abc" length:3]]);
  NSMutableData* more = [data mutableCopy];
  [more appendBytes:"d" length:1];
  CHECK(more.length == 4 && memcmp(more.bytes, "abcd", 4) == 0);
  CHECK([[more subdataWithRange:NSMakeRange(1, 2)] isEqual:[NSData dataWithBytes:"bc" length:2]]);
  [more release];
  [data release];
  CHECK(freed == 3);
  NSError* error = [NSError errorWithDomain:@"D" code:7 userInfo:@{NSLocalizedDescriptionKey : @"why"}];
  CHECK([error.localizedDescription isEqual:@"why"] && [error.description isEqual:@"Error Domain=D Code=7 \"why\""]);
  CHECK([NSDate date].timeIntervalSince1970 > 1.6e9 && [[NSDate dateWithTimeIntervalSince1970:0].description isEqual:@"1970-01-01 00:00:00 +0000"]);
}

static void test_system(void) {
  NSFileManager* files = [NSFileManager defaultManager];
  NSString* folder = [NSTemporaryDirectory() stringByAppendingPathComponent:[NSString stringWithFormat:@"smelt-%d", getpid()]];
  NSString* path = [folder stringByAppendingPathComponent:@"x/file.txt"];
  NSError* error = nil;
  CHECK([files createDirectoryAtPath:path.stringByDeletingLastPathComponent withIntermediateDirectories:YES attributes:nil error:&error]);
  CHECK([@"text" writeToFile:path atomically:YES encoding:NSUTF8StringEncoding error:&error] && !error);
  CHECK([[NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:&error] isEqual:@"text"]);
  CHECK([[files attributesOfItemAtPath:path error:&error][NSFileSize] isEqual:@4]);
  CHECK([files attributesOfItemAtPath:path error:&error][NSFileType] == NSFileTypeRegular);
  CHECK([files removeItemAtPath:folder error:&error] && ![files fileExistsAtPath:path]);
  CHECK([NSString stringWithContentsOfFile:path encoding:NSUTF8StringEncoding error:&error] == nil);
  CHECK(error.code == NSFileReadNoSuchFileError && [error.userInfo[NSUnderlyingErrorKey] code] == 2);
  setenv("SMELT_TEST_VALUE", "a=b", 1);
  NSProcessInfo* process = [NSProcessInfo processInfo];
  CHECK([process.environment[@"SMELT_TEST_VALUE"] isEqual:@"a=b"] && process.physicalMemory > 1 << 20);
  CHECK([process isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion){14, 9, 9}]);
  CHECK(![process isOperatingSystemAtLeastVersion:(NSOperatingSystemVersion){99, 0, 0}]);
  CHECK([process.arguments[0] hasPrefix:[NSBundle mainBundle].bundlePath]);
  CHECK([[NSBundle mainBundle] pathForResource:[process.arguments[0] lastPathComponent] ofType:nil] != nil);
  CHECK([[NSBundle mainBundle] pathForResource:@"default" ofType:@"nothing"] == nil);
  CHECK(NSClassFromString(@"NSArray") == [NSArray class] && [NSStringFromClass([NSSet class]) isEqual:@"NSSet"]);
  CHECK([@"x" conformsToProtocol:@protocol(NSCopying)] && [@protocol(NSCopying) isKindOfClass:[Protocol class]]);
  vm_address_t at = 0;
  CHECK(vm_allocate(mach_task_self(), &at, 100000, VM_FLAGS_ANYWHERE) == KERN_SUCCESS && *(int*)(at + 99992) == 0);
  CHECK(vm_deallocate(mach_task_self(), at, 100000) == KERN_SUCCESS);
  size_t memory = 0, size = sizeof memory;
  CHECK(sysctlbyname("hw.memsize", &memory, &size, NULL, 0) == 0 && size == 8 && memory > (1u << 20));
  int processors = 0;
  size = 0;
  CHECK(sysctlbyname("hw.ncpu", NULL, &size, NULL, 0) == 0 && size == sizeof processors);
  CHECK(sysctlbyname("hw.ncpu", &processors, &size, NULL, 0) == 0 && processors >= 1);
  size = 2;
  CHECK(sysctlbyname("hw.ncpu", &processors, &size, NULL, 0) == -1 && errno == ENOMEM);
  CHECK(sysctlbyname("hw.nothing", &memory, &size, NULL, 0) == -1 && errno == ENOENT);
  CHECK(sysctlbyname("hw.ncpu", NULL, NULL, &processors, sizeof processors) == -1 && errno == EPERM);
}

int main(void) {
  @autoreleasepool {
    test_strings();
    test_paths();
    test_collections();
    test_hash_tables();
    test_uuids_and_files();
    test_values();
    test_system();
  }
  return outcome();
}
