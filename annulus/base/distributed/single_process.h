// A communicator of one member, with nobody to exchange numbers with: what work on one process uses.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "annulus/base/distributed/communicator.h"

namespace annulus {

// Every operation leaves the numbers as they are, because one member's sum, maximum and broadcast are its own numbers.
// Has no state, so that any number of threads may use one.
class SingleProcess final : public Communicator {
 public:
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 1; }
  void sum(std::span<double>) override {}
  void sum(std::span<float>) override {}
  void largest(std::span<double>) override {}
  void largest(std::span<float>) override {}
  std::unique_ptr<Pending> start_sum(std::span<double>) override { return std::make_unique<Done>(); }
  std::unique_ptr<Pending> start_sum(std::span<float>) override { return std::make_unique<Done>(); }
  std::unique_ptr<Pending> start_largest(std::span<double>) override { return std::make_unique<Done>(); }
  std::unique_ptr<Pending> start_largest(std::span<float>) override { return std::make_unique<Done>(); }
  void broadcast(std::span<std::byte>) override {}
  void send(std::size_t, std::span<float>) override {}
  void barrier() override {}
  std::unique_ptr<Communicator> split(std::size_t) override { return std::make_unique<SingleProcess>(); }

 private:
  class Done final : public Pending {
   public:
    void wait() override {}
  };
};

}  // namespace annulus
