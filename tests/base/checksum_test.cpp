// SHA-256 against the published examples of FIPS 180, whole and in pieces.
#include "annulus/base/checksum.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "annulus/base/parallel.h"

namespace annulus {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(Sha256, MatchesThePublishedDigests) {
  EXPECT_EQ(sha256_hex({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(bytes_of("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(bytes_of(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveTheDigestOfTheWhole) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text.push_back(static_cast<char>('a' + i % 26));
  const std::string whole = sha256_hex(bytes_of(text));
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, text.size()}) {
    Sha256 hash;
    hash.update(bytes_of(text).first(cut));
    hash.update(bytes_of(text).subspan(cut));
    EXPECT_EQ(hash.finish_hex(), whole) << "cut at " << cut;
  }
}

// Run by itself, as ctest does, this is where the leak checker of the address sanitizer looks at what threads of the
// pool keep.
TEST(Sha256, ThreadsOfThePoolHash) {
  std::vector<std::string> digests(256);
  parallel_for(4, digests.size(), [&](std::size_t i) { digests[i] = sha256_hex(bytes_of("abc")); });
  for (const auto& digest : digests) EXPECT_EQ(digest, sha256_hex(bytes_of("abc")));
}

}  // namespace
}  // namespace annulus
