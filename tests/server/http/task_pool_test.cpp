// The bounded queue: all tasks of a list or none, and what waits is dropped at the end.
#include "server/http/task_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <new>
#include <string>
#include <vector>

namespace annulus::server {
namespace {

TEST(TaskPool, RunsWhatItTook) {
  std::promise<void> done;
  std::atomic<int> count = 0;
  TaskPool pool("pool", 2, 100);  // ends before what its tasks use
  std::vector<std::function<void()>> tasks(10, [&] {
    if (++count == 10) done.set_value();
  });
  ASSERT_TRUE(pool.submit(tasks));
  done.get_future().wait();
  EXPECT_EQ(count, 10);
}

TEST(TaskPool, TakesAllOfAListOrNone) {
  std::promise<void> release;
  std::promise<void> begun;
  auto released = release.get_future().share();
  TaskPool pool("pool", 1, 2);  // ends before what its tasks use
  ASSERT_TRUE(pool.submit({[&] {
    begun.set_value();
    released.wait();
  }}));
  begun.get_future().wait();
  EXPECT_TRUE(pool.submit({[] {}}));
  EXPECT_FALSE(pool.submit({[] {}, [] {}})) << "two more would make three";
  EXPECT_EQ(pool.waiting(), 1U);
  release.set_value();
}

TEST(TaskPool, ListsTakeTurns) {
  std::promise<void> release;
  std::promise<void> begun;
  std::promise<void> done;
  auto released = release.get_future().share();
  std::string order;
  TaskPool pool("pool", 1, 100);  // ends before what its tasks use
  ASSERT_TRUE(pool.submit({[&] {
    begun.set_value();
    released.wait();
  }}));
  begun.get_future().wait();
  const auto task = [&order](char name) { return [&order, name] { order += name; }; };
  ASSERT_TRUE(pool.submit({task('a'), task('a'), task('a'), [&] { done.set_value(); }}));
  ASSERT_TRUE(pool.submit({task('b'), task('b')}));
  ASSERT_TRUE(pool.submit({task('c')}));
  EXPECT_EQ(pool.waiting(), 7U);
  release.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, "abcaba");
}

TEST(TaskPool, OutlivesATaskThatFails) {
  std::promise<void> done;
  TaskPool pool("pool", 1, 100);  // ends before what its tasks use
  ASSERT_TRUE(pool.submit({[] { throw std::bad_alloc(); }, [&] { done.set_value(); }}));
  done.get_future().wait();
  EXPECT_EQ(pool.waiting(), 0U);
}

}  // namespace
}  // namespace annulus::server
