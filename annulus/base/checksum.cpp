// SHA-256 by OpenSSL's libcrypto, which uses the processor's SHA instructions where it has them.
#include "annulus/base/checksum.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <cassert>
#include <iterator>

#include "annulus/base/error.h"

namespace annulus {
namespace {

// Threads of the pool may outlive what libcrypto tears down when a program ends, and would then leak what it keeps for
// each thread. Without that tear-down each thread frees its own when it ends.
bool keep_until_threads_end() {
  static const bool kept = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr) == 1;
  return kept;
}

}  // namespace

struct Sha256::State {
  struct Release {
    void operator()(EVP_MD_CTX* pointer) const { EVP_MD_CTX_free(pointer); }
  };
  std::unique_ptr<EVP_MD_CTX, Release> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  if (!keep_until_threads_end() || !state_->context ||
      EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr) != 1) {
    fail(ErrorKind::kInternal, "the cryptography library (libcrypto) offers no SHA-256");
  }
}

Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  assert(state_);
  if (bytes.empty()) return;
  if (EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) != 1) {
    fail(ErrorKind::kInternal, "the cryptography library (libcrypto) could not add {} bytes to a SHA-256",
         bytes.size());
  }
}

std::string Sha256::finish_hex() {
  assert(state_);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_DigestFinal_ex(state_->context.get(), digest.data(), &length) != 1) {
    fail(ErrorKind::kInternal, "the cryptography library (libcrypto) could not finish a SHA-256");
  }
  std::string hex;
  hex.reserve(std::size_t{2} * length);
  for (unsigned int i = 0; i < length; ++i) fmt::format_to(std::back_inserter(hex), "{:02x}", digest[i]);
  return hex;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

}  // namespace annulus
