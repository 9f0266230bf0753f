// Finished runs: stored, found again, incomplete, damaged, in use.
#include "annulus/store/results/run_cache_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <fstream>
#include <vector>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string key(char digit) { return std::string(64, digit); }

TEST(RunCacheFile, StoredRunsAreFoundByTheNextProcess) {
  const ScratchFolder folder;
  {
    RunCacheFile cells(folder / "cells");
    EXPECT_FALSE(cells.find(key('a')));
    cells.keep(key('a'), "{\"accuracy\": 50}");
    cells.texts().keep(key('b'), "2");
    EXPECT_EQ(cells.texts().find(key('b')), "2");
  }
  RunCacheFile again(folder / "cells");
  EXPECT_EQ(again.size(), 2U);
  EXPECT_EQ(again.find(key('a')), "{\"accuracy\": 50}");
}

TEST(RunCacheFile, AKillAtAnyByteLosesAtMostTheLastRun) {
  const ScratchFolder folder;
  {
    RunCacheFile cells(folder / "whole");
    cells.keep(key('a'), "first");
    cells.keep(key('b'), "second");
  }
  const std::string whole = content_of(folder / "whole");
  const std::size_t first_line = whole.find('\n') + 1;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto path = folder.write("cut", whole.substr(0, length));
    {
      RunCacheFile cells(path);
      EXPECT_EQ(cells.size(), length == whole.size() ? 2U : length >= first_line ? 1U : 0U);
      cells.keep(key('c'), "third");
    }
    RunCacheFile again(path);
    EXPECT_EQ(again.find(key('c')), "third");
  }
}

TEST(RunCacheFile, DamageIsReportedAndNotUsed) {
  const ScratchFolder folder;
  {
    RunCacheFile cells(folder / "cells");
    cells.keep(key('a'), "50.25");
    cells.keep(key('b'), "60.25");
  }
  std::string text = content_of(folder / "cells");
  text[text.find("50.25")] = '9';
  const auto path = folder.write("damaged", text);
  expect_error(ErrorKind::kFormat, "line 1", [&] { RunCacheFile cells(path); });
  EXPECT_EQ(content_of(path), text);
}

TEST(RunCacheFile, RunsFindWhatOthersKeep) {
  const ScratchFolder folder;
  RunCacheFile first(folder / "cells");
  RunCacheFile second(folder / "cells");
  first.keep(key('a'), "1");
  EXPECT_EQ(second.find(key('a')), "1");
  second.keep(key('b'), "2");
  first.keep(key('c'), "3");
  EXPECT_EQ(first.find(key('b')), "2");
  RunCacheFile third(folder / "cells");
  EXPECT_EQ(third.size(), 3U);
}

// Long lines take several reads, and one that a kill cut off is replaced by the next writer.
TEST(RunCacheFile, ALineThatIsReplacedWhileItIsReadIsNoDamage) {
  const ScratchFolder folder;
  RunCacheFile reader(folder / "cells");
  const pid_t writer = fork();
  if (writer == 0) {
    RunCacheFile cells(folder / "cells");
    for (char digit = '1'; digit <= '9'; ++digit) {
      for (int i = 0; i < 20; ++i) {
        std::ofstream(folder / "cells", std::ios::binary | std::ios::app) << std::string(150000, 'x');
        cells.keep(key(digit), std::string(200000, digit));
      }
    }
    _exit(0);
  }
  while (waitpid(writer, nullptr, WNOHANG) == 0) EXPECT_NO_THROW(reader.find(key('a')));
  EXPECT_EQ(reader.find(key('9')), std::string(200000, '9'));
}

TEST(RunCacheFile, ARunIsClaimedByOneProcessAtATime) {
  const ScratchFolder folder;
  const RunCacheFile first(folder / "cells");
  const RunCacheFile second(folder / "cells");
  {
    const auto claim = first.claim(key('a'));
    EXPECT_NE(claim, nullptr);
    EXPECT_EQ(second.claim(key('a')), nullptr);
    EXPECT_NE(second.claim(key('b')), nullptr);
  }
  EXPECT_NE(second.claim(key('a')), nullptr);
}

// Keeps runs until it is killed, at any moment.
void keep_until_killed(const std::filesystem::path& path) {
  RunCacheFile cells(path);
  for (;;) {
    for (char digit = '1'; digit <= '9'; ++digit) {
      const auto claim = cells.claim(key(digit));
      if (claim && !cells.find(key(digit))) cells.keep(key(digit), std::string(2000, digit));
    }
  }
}

TEST(RunCacheFile, KilledProcessesLoseNothingAndBlockNobody) {
  for (int round = 0; round < 40; ++round) {
    const ScratchFolder folder;
    std::array<pid_t, 2> children{};
    for (pid_t& child : children) {
      child = fork();
      if (child == 0) keep_until_killed(folder / "cells");
    }
    usleep(static_cast<useconds_t>(100 * round));
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
    RunCacheFile cells(folder / "cells");
    std::vector<CachedRun<std::string>> wanted;
    for (char digit = '1'; digit <= '9'; ++digit) wanted.push_back({key(digit), [] { return "after"; }});
    const auto values = cached_runs(cells.texts(), wanted);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_TRUE(values[i] == "after" || values[i] == std::string(2000, static_cast<char>('1' + i)));
    }
    const std::string text = content_of(folder / "cells");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
  }
}

}  // namespace
}  // namespace annulus
