// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The record under ac/, and the keys and signatures that go with it.
#include "smelt/schema/entry_record.hpp"
#include "smelt/signing/keys.hpp"
#include "smelt/signing/policy.hpp"

#include "files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

using namespace smelt;
using namespace smelt::schema;

namespace {

EntryRecord example() {
  EntryRecord record;
  record.key = sha256(as_bytes("key"));
  record.made_from = "smelt 0.1.0, source 12ab";
  record.cost_us = 41250;
  record.parts.push_back({"a part", 3, sha256(as_bytes("abc")), Codec::none, 3, sha256(as_bytes("abc"))});
  record.parts.push_back({"b", 4000, sha256(as_bytes("b")), Codec::zstd, 100, sha256(as_bytes("z"))});
  record.signatures = {"ci:QUJD", "other:REVG"};
  return record;
}

/// The text with its sum made right again.
std::string sealed(std::string text) {
  text.resize(text.rfind("sum "));
  return text + "sum " + to_hex(sha256(as_bytes(text))) + "\n";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("a record reads back as it was written") {
  const std::string text = write_entry_record(example()).value();
  CHECK(parse_entry_record(as_bytes(text)).value() == example());
}

TEST_CASE("no prefix of a record is one, and no record with a byte more") {
  const std::string text = write_entry_record(example()).value();
  for (size_t size = 0; size < text.size(); ++size) {
    const Bytes prefix = to_bytes(as_bytes(text).first(size));
    CHECK_FALSE(parse_entry_record(prefix));
  }
  CHECK_FALSE(parse_entry_record(as_bytes(text + "\n")));
}

TEST_CASE("no record with a changed byte is one") {
  const std::string text = write_entry_record(example()).value();
  for (size_t at = 0; at < text.size(); ++at)
    for (const int bit : {0, 3, 7}) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      CHECK_FALSE(parse_entry_record(as_bytes(changed)));
    }
}

TEST_CASE("what is spelled another way is refused, although it adds up") {
  const std::string text = write_entry_record(example()).value();
  CHECK(parse_entry_record(as_bytes(sealed(text))));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"cost 41250", "cost 041250"},
           {"part 3 ", "part  3 "},
           {"blob none 3", "blob none 4"},  // no codec, yet another size
           {"blob none", "blob lz4"},
           {" a part\n", " \n"},
           {" a part\n", " c\n"},                 // not in order
           {"part 4000", "part 99999999999999"},  // more than any part may have
           {"signed ci:QUJD", "signed nocolon"},
           {"made-from smelt", "made-from \x01smelt"},
       }) {
    CAPTURE(from);
    CHECK_FALSE(parse_entry_record(as_bytes(sealed(replaced(text, from, to)))));
  }
  CHECK(parse_entry_record(as_bytes(replaced(text, "smelt-entry 1", "smelt-entry 2"))).error().code ==
        Errc::format_newer);
}

TEST_CASE("what the record cannot say is not written") {
  EntryRecord record = example();
  record.parts[0].name = "two\nlines";
  CHECK(write_entry_record(record).error().code == Errc::invalid_argument);
  record = example();
  record.parts.clear();
  CHECK_FALSE(write_entry_record(record));
  record = example();
  std::swap(record.parts[0], record.parts[1]);
  CHECK_FALSE(write_entry_record(record));
}

TEST_CASE("a signature binds key, origin, and every part's name, size and bytes") {
  const signing::SecretKey key = signing::new_key("ci-2026").value();
  const signing::PublicKey known = signing::public_key(key);
  const EntryRecord record = example();
  const signing::Signature signature = signing::sign(key, as_bytes(statement(record)));
  CHECK(signing::verify(known, as_bytes(statement(record)), signature));
  const auto differs = [&](auto&& change) {
    EntryRecord other = record;
    change(other);
    return !signing::verify(known, as_bytes(statement(other)), signature);
  };
  CHECK(differs([](EntryRecord& other) { other.key = sha256(as_bytes("another")); }));
  CHECK(differs([](EntryRecord& other) { other.made_from += "x"; }));
  CHECK(differs([](EntryRecord& other) { other.parts[0].name = "another"; }));
  CHECK(differs([](EntryRecord& other) { other.parts[1].bytes += 1; }));
  CHECK(differs([](EntryRecord& other) { other.parts[1].digest = sha256(as_bytes("another")); }));
  CHECK(differs([](EntryRecord& other) { other.parts.pop_back(); }));
  // How it is packed, and what it cost, may change on the way.
  CHECK_FALSE(differs([](EntryRecord& other) { other.parts[1].blob_bytes = 7; }));
  CHECK_FALSE(differs([](EntryRecord& other) { other.cost_us = 7; }));
}

TEST_CASE("signatures agree with RFC 8032") {
  // Section 7.1, test 2: the message is one byte, 0x72.
  const auto seed = digest_from_hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb").value();
  const auto expected = digest_from_hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c").value();
  signing::SecretKey key{"rfc", {}};
  std::copy(seed.bytes.begin(), seed.bytes.end(), key.seed.begin());
  CHECK(signing::public_key(key).bytes == expected.bytes);
  const auto signature = signing::sign(key, as_bytes("\x72"));
  const auto first = digest_from_hex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da").value();
  CHECK(std::equal(first.bytes.begin(), first.bytes.end(), signature.bytes.begin()));
}

TEST_CASE("keys and signatures read back; what is not one is refused") {
  const signing::SecretKey key = signing::new_key("build.farm@example").value();
  const signing::PublicKey known = signing::public_key(key);
  CHECK(signing::parse_public_key(signing::to_text(known)).value() == known);
  CHECK(signing::parse_secret_key(signing::to_text(key)).value().seed == key.seed);
  CHECK_FALSE(signing::new_key("two words"));
  CHECK_FALSE(signing::new_key(""));
  const std::string text = signing::to_text(known);
  for (size_t size = 0; size < text.size(); ++size) CHECK_FALSE(signing::parse_public_key(text.substr(0, size)));
  // A secret key handed over as a public one: the message must not repeat it.
  const auto refused = signing::parse_public_key(signing::to_text(key));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("secret key") != std::string::npos);
  CHECK(refused.error().message.find(signing::to_text(key).substr(10)) == std::string::npos);
}

TEST_CASE("a secret key's file is its owner's alone and never overwritten") {
  const test::TemporaryFolder folder;
  const auto file = folder / "key";
  const signing::SecretKey key = signing::new_key("me").value();
  REQUIRE(signing::write_secret_key(file, key));
  CHECK(signing::read_secret_key(file).value().seed == key.seed);
  CHECK(signing::write_secret_key(file, key).error().code == Errc::invalid_argument);
  ::chmod(file.c_str(), 0644);
  CHECK(signing::read_secret_key(file).error().code == Errc::untrusted);
  CHECK(signing::read_secret_key(folder / "none").error().code == Errc::file_not_found);
}

TEST_CASE("trusted keys come from the environment, from files, and from the user's file") {
  const test::TemporaryFolder folder;
  std::vector<signing::PublicKey> keys;
  for (const char* name : {"a", "b", "c", "d"}) keys.push_back(signing::public_key(signing::new_key(name).value()));
  std::filesystem::create_directories(folder / "config/smelt");
  std::ofstream(folder / "config/smelt/trusted-keys") << "# ours\n" << signing::to_text(keys[0]) << "  # until May\n\n";
  std::ofstream(folder / "more") << signing::to_text(keys[1]) << "\n" << signing::to_text(keys[2]) << "\n";
  const Variable config("XDG_CONFIG_HOME", folder / "config");
  const Variable trusted("SMELT_TRUSTED_KEYS", signing::to_text(keys[3]) + " " + (folder / "more").string());
  const Variable level("SMELT_TRUST", "signed");
  const auto policy = signing::Policy::from_environment();
  REQUIRE(policy);
  CHECK(policy->level == signing::Level::signed_only);
  for (const signing::PublicKey& key : keys) CHECK(policy->has(key));
  const Variable wrong("SMELT_TRUST", "nobody");
  CHECK(signing::Policy::from_environment().error().message.find("any, local or signed") != std::string::npos);
}

TEST_CASE("a list of trusted keys that others may write is refused, as is one of another user's") {
  const test::TemporaryFolder folder;
  const auto file = folder / "keys";
  std::ofstream(file) << signing::to_text(signing::public_key(signing::new_key("a").value())) << "\n";
  const auto read = [&]() -> Result<signing::Policy> {
    signing::Policy policy;
    SMELT_TRY_VOID(policy.add_file(file));
    return policy;
  };
  ::chmod(file.c_str(), 0644);
  CHECK(read()->keys.size() == 1);
  for (const mode_t mode : {0664, 0646, 0666}) {
    ::chmod(file.c_str(), mode);
    const auto refused = read();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::untrusted);
    CHECK(refused.error().message.find("chmod") != std::string::npos);
  }
  const Variable trusted("SMELT_TRUSTED_KEYS", file.string());
  CHECK(signing::Policy::from_environment().error().code == Errc::untrusted);
  ::chmod(file.c_str(), 0644);
  if (::geteuid() == 0) {  // else nobody else's can be made
    REQUIRE(::chown(file.c_str(), 12345, 12345) == 0);
    CHECK(read().error().code == Errc::untrusted);
  }
}

TEST_CASE("points that anybody can sign under, and second spellings, are no keys") {
  const auto key = [](std::string_view hex) {
    signing::PublicKey made{"k", {}};
    const Digest bytes = digest_from_hex(hex).value();
    std::copy(bytes.bytes.begin(), bytes.bytes.end(), made.bytes.begin());
    return signing::parse_public_key(signing::to_text(made));
  };
  for (const char* hex : {
           // Orders 1, 2, 4 and 8, then the same with the sign of x turned.
           "0100000000000000000000000000000000000000000000000000000000000000",
           "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "0000000000000000000000000000000000000000000000000000000000000000",
           "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
           "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
           "0100000000000000000000000000000000000000000000000000000000000080",
           "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
           "0000000000000000000000000000000000000000000000000000000000000080",
           "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
           "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
           // Numbers of p and more: 0, 1 and 18 another way.
           "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
           "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
       }) {
    CAPTURE(hex);
    const auto refused = key(hex);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == Errc::invalid_argument);
  }
  // What the first is refused for: R = 1 and S = 0 is a signature of anything.
  signing::PublicKey identity{"k", {}};
  identity.bytes[0] = std::byte{1};
  signing::Signature zero{"k", {}};
  zero.bytes[0] = std::byte{1};
  CHECK(signing::verify(identity, as_bytes("any statement"), zero));
  CHECK(key("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"));
}

TEST_CASE("the policy: whose native code runs") {
  using signing::Origin;
  signing::Policy policy;
  const auto allows = [&](signing::Level level, Origin origin, bool is_signed) {
    policy.level = level;
    return policy.allows(origin, is_signed);
  };
  for (const auto level : {signing::Level::any, signing::Level::local, signing::Level::signed_only}) {
    CHECK(allows(level, Origin::compiled, false));
    CHECK(allows(level, Origin::remote, true));
    CHECK(allows(level, Origin::named_path, true));
  }
  CHECK(allows(signing::Level::any, Origin::remote, false));
  CHECK_FALSE(allows(signing::Level::local, Origin::remote, false));
  CHECK(allows(signing::Level::local, Origin::named_path, false));
  CHECK_FALSE(allows(signing::Level::signed_only, Origin::named_path, false));
}
