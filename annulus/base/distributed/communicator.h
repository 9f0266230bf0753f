// Processes that do one piece of work together by exchanging numbers; what carries them (MPI) is not known here.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace annulus {

// Every member makes the same calls in the same order. What comes out has the same bits for all members, and for the
// same members every time.
class Communicator {
 public:
  // What is under way: its numbers must be left alone until wait() returns. Destroyed, it waits.
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void wait() = 0;
  };

  Communicator() = default;
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  virtual std::size_t rank() const = 0;
  virtual std::size_t size() const = 0;

  // Number i becomes the sum, or the largest, of the members' numbers i.
  virtual void sum(std::span<double> numbers) = 0;
  virtual void sum(std::span<float> numbers) = 0;
  virtual void largest(std::span<double> numbers) = 0;
  virtual void largest(std::span<float> numbers) = 0;
  // The same without waiting; several may be under way.
  virtual std::unique_ptr<Pending> start_sum(std::span<double> numbers) = 0;
  virtual std::unique_ptr<Pending> start_sum(std::span<float> numbers) = 0;
  virtual std::unique_ptr<Pending> start_largest(std::span<double> numbers) = 0;
  virtual std::unique_ptr<Pending> start_largest(std::span<float> numbers) = 0;
  // The first member's bytes go to all.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  // Member `from` sends numbers to the first member, which receives them; others do nothing.
  virtual void send(std::size_t from, std::span<float> numbers) = 0;
  // Returns once all members have called it.
  virtual void barrier() = 0;
  // The members that name the same group, in the order of their ranks.
  virtual std::unique_ptr<Communicator> split(std::size_t group) = 0;
};

}  // namespace annulus
