// SHA-256 of bytes: names the exact file, weights or split a result came from.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace annulus {

// Hashes bytes as they come in. One object gives one digest: after finish_hex() nothing more may be added.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::span<const std::byte> bytes);
  // The digest of everything added so far as 64 lower-case hexadecimal digits.
  std::string finish_hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace annulus
