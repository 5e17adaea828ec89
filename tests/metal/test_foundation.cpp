// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of Foundation that programs use: ownership, pools, strings, collections, values.
#include "program.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

using namespace program;

namespace {

/// Told when its buffer goes.
NS::SharedPtr<MTL::Buffer> watched(int& gone) {
  alignas(4096) static char memory[4096];
  return NS::TransferPtr(device()->newBuffer(memory, sizeof(memory), MTL::ResourceStorageModeShared,
                                             [&gone](void*, NS::UInteger) { ++gone; }));
}

}  // namespace

TEST_CASE("owners and pools") {
  int gone = 0;
  MTL::Buffer* object = watched(gone)->retain();
  CHECK(object->retainCount() == 1);
  {
    const auto more = NS::RetainPtr(object);
    CHECK(object->retainCount() == 2);
    NS::SharedPtr<MTL::Resource> base = more;
    CHECK(object->retainCount() == 3);
  }
  CHECK(gone == 0);
  auto* const outer = NS::AutoreleasePool::alloc()->init();
  auto* const inner = NS::AutoreleasePool::alloc()->init();
  object->retain()->autorelease();
  CHECK(object->retainCount() == 2);
  inner->release();
  CHECK(object->retainCount() == 1);
  object->autorelease();
  NS::AutoreleasePool::alloc()->init();  // never closed: goes with the outer one
  outer->drain();
  CHECK(gone == 1);
  // A thread that has no pool has one of its own.
  std::thread([&] { watched(gone)->retain()->autorelease(); }).join();
  CHECK(gone == 2);
}

TEST_CASE("the main thread's own pool is not drained when the program ends") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    alignas(4096) static char memory[4096];
    device()
        ->newBuffer(memory, sizeof(memory), MTL::ResourceStorageModeShared, [](void*, NS::UInteger) { ::_exit(3); })
        ->autorelease();
    std::exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("thread-local objects of a program may use pools when the thread ends") {
  struct Last {
    MTL::Buffer* first = nullptr;
    MTL::Buffer* second = nullptr;
    ~Last() {
      first->autorelease();
      const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      second->autorelease();
    }
  };
  int gone = 0;
  MTL::Buffer* const owned[] = {watched(gone)->retain(), watched(gone)->retain(), watched(gone)->retain()};
  std::thread([&] {
    thread_local Last last;  // before the thread's pool, and so destroyed after it
    last.first = owned[0];
    last.second = owned[1];
    owned[2]->autorelease();
  }).join();
  CHECK(gone == 3);
}

TEST_CASE("smart pointers") {
  int gone = 0;
  {
    auto a = watched(gone);
    auto b = std::move(a);
    CHECK_FALSE(a);
    CHECK(b);
    a = b;
    CHECK(a == b);
    b.reset();
    CHECK(gone == 0);
    MTL::Buffer* const raw = a.get();
    a.detach();
    CHECK(gone == 0);
    raw->release();
    CHECK(gone == 1);
  }
  CHECK(gone == 1);
}

TEST_CASE("strings") {
  const Pool pool;
  NS::String* const mixed = text("a\xc3\xa4\xf0\x9f\x98\x80z");  // a, a umlaut, an emoji, z
  CHECK(mixed->length() == 5);                                   // in UTF-16 units
  CHECK(mixed->lengthOfBytes(NS::UTF8StringEncoding) == 8);
  CHECK(mixed->character(1) == 0xe4);
  CHECK(mixed->character(2) == 0xd83d);
  CHECK(mixed->cString(NS::ASCIIStringEncoding) == nullptr);
  CHECK(text(NS::String::string("\xe4", NS::ISOLatin1StringEncoding)) == "\xc3\xa4");
  CHECK(text(NS::String::string("a\xe4", NS::ASCIIStringEncoding)) == "a\xc3\xa4");  // a byte, a character
  for (const char* bytes : {"\xff", "\xc0\xaf", "\xed\xa0\x80"})  // no byte of UTF-8, an overlong "/", a surrogate
    CHECK(NS::String::string(bytes, NS::UTF8StringEncoding) == nullptr);
  CHECK(text("one")->isEqualToString(text("one")));
  CHECK(text("one")->isEqual(text("one")));
  CHECK(text("one")->hash() == text("one")->hash());
  CHECK_FALSE(text("one")->isEqual(NS::Number::number(1)));
  CHECK(text(text("one")->stringByAppendingString(text("two"))) == "onetwo");
  const NS::Range range = text("kernel_mul_mv")->rangeOfString(text("MUL"), NS::CaseInsensitiveSearch);
  CHECK(range.location == 7);
  CHECK(range.length == 3);
  CHECK(text("abc")->rangeOfString(text("d"), 0).location == NS::UInteger(NS::NotFound));
  CHECK(MTLSTR("literal") == MTLSTR("literal"));
  const auto owned = NS::TransferPtr(NS::String::alloc()->init("own", NS::UTF8StringEncoding));
  CHECK(owned->retainCount() == 1);
  const auto copy = NS::TransferPtr(owned->copy());
  CHECK(copy.get() == owned.get());
  CHECK(text(owned->description()) == "own");
}

TEST_CASE("collections") {
  const Pool pool;
  int gone = 0;
  {
    const Pool inner;
    const auto one = watched(gone);
    const NS::Object* const list[] = {one.get(), text("two")};
    const NS::Array* const array = NS::Array::array(list, 2);
    CHECK(array->count() == 2);
    CHECK(array->object<MTL::Buffer>(0) == one.get());
    CHECK(array->object<NS::Object>(2) == nullptr);
    const NS::Dictionary* const dictionary = NS::Dictionary::dictionary(list[0], text("key"));
    CHECK(dictionary->object<MTL::Buffer>(text("key")) == one.get());
    CHECK(dictionary->object(text("no key")) == nullptr);
    NS::Enumerator<NS::String> keys = dictionary->keyEnumerator<NS::String>();
    CHECK(text(keys.nextObject()) == "key");
    CHECK(keys.nextObject() == nullptr);
    const auto set = NS::TransferPtr(NS::Set::alloc()->init(list, 2));
    CHECK(set->containsObject(text("two")));
    CHECK(one->retainCount() > 1);
  }
  CHECK(gone == 1);
}

TEST_CASE("numbers, errors, data, paths") {
  const Pool pool;
  CHECK(NS::Number::number(-3)->unsignedIntValue() == 4294967293u);
  CHECK(NS::Number::number(2.5)->intValue() == 2);
  CHECK(NS::Number::number(true)->boolValue());
  CHECK(text(NS::Number::number(0.1)->stringValue()) == "0.1");
  CHECK(text(NS::Number::number(18446744073709551615ull)->stringValue()) == "18446744073709551615");
  CHECK(NS::Number::number(1)->isEqual(NS::Number::number(1.0)));
  CHECK(NS::Number::number(-1)->compare(NS::Number::number(18446744073709551615ull)) == NS::OrderedAscending);
  const NS::Error* const error = NS::Error::error(text("Domain"), 7, nullptr);
  CHECK(text(error) == "Domain error 7");
  const NS::Data* const data = NS::Data::data("abc", 3);
  CHECK(std::memcmp(data->bytes(), "abc", 3) == 0);
  const NS::URL* const url = NS::URL::fileURLWithPath(text("/a b/c.metallib"));
  CHECK(text(url->absoluteString()) == "file:///a%20b/c.metallib");
  const auto back = NS::TransferPtr(NS::URL::alloc()->init(url->absoluteString()));
  CHECK(std::string(back->fileSystemRepresentation()) == "/a b/c.metallib");
  CHECK(text(NS::Bundle::mainBundle()->executablePath()).find("test_metal") != std::string::npos);
  CHECK(NS::ProcessInfo::processInfo()->isOperatingSystemAtLeastVersion({14, 0, 0}));
  CHECK_FALSE(NS::ProcessInfo::processInfo()->isOperatingSystemAtLeastVersion({26, 0, 0}));
}

TEST_CASE("an object carries what is layered on it, and tells when it goes") {
  static int dropped;
  dropped = 0;
  int first = 1, second = 2;
  auto object = NS::TransferPtr(device()->newFence());
  CHECK(object->companion() == nullptr);
  CHECK(object->set_companion(&first, [](void* word) { dropped += *static_cast<int*>(word); }) == &first);
  CHECK(object->set_companion(&second, [](void*) { dropped = 100; }) == &first);
  CHECK(object->companion() == &first);
  CHECK(object->class_name() == "MTLFence");
  object.reset();
  CHECK(dropped == 1);
}

// As programs for several systems ask; the macro stands in for what GCC has not.
TEST_CASE("the system calls itself macOS 15") {
  bool here = false, older = false, newer = false, phone = false;
  if (__builtin_available(macOS 15, iOS 18, tvOS 18, visionOS 2, *)) here = true;
  if (__builtin_available(macOS 13.3, *)) older = true;
  if (__builtin_available(macOS 26, iOS 26, *))
    newer = true;
  else
    newer = false;
  if (!__builtin_available(iOS 19.0, *)) phone = true;
  CHECK(here);
  CHECK(older);
  CHECK_FALSE(newer);
  CHECK(phone);
}
