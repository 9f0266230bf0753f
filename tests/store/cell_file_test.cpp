// Finished cells: kept, found again, cut off, damaged, in use.
#include "annulus/store/cell_file.h"

#include <gtest/gtest.h>

#include "tests/store/expect_error.h"
#include "tests/store/scratch_folder.h"

namespace annulus {
namespace {

std::string key(char digit) { return std::string(64, digit); }

TEST(CellFile, WhatWasKeptIsFoundByTheNextRun) {
  const ScratchFolder folder;
  {
    CellFile cells(folder / "cells");
    EXPECT_FALSE(cells.find(key('a')));
    cells.keep(key('a'), "{\"accuracy\": 50}");
    cells.store().keep(key('b'), "2");
    EXPECT_EQ(cells.store().find(key('b')), "2");
  }
  const CellFile again(folder / "cells");
  EXPECT_EQ(again.size(), 2U);
  EXPECT_EQ(again.find(key('a')), "{\"accuracy\": 50}");
}

TEST(CellFile, AKillAtAnyByteLosesAtMostTheLastCell) {
  const ScratchFolder folder;
  {
    CellFile cells(folder / "whole");
    cells.keep(key('a'), "first");
    cells.keep(key('b'), "second");
  }
  const std::string whole = content_of(folder / "whole");
  const std::size_t first_line = whole.find('\n') + 1;
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto path = folder.write("cut", whole.substr(0, length));
    {
      CellFile cells(path);
      EXPECT_EQ(cells.size(), length == whole.size() ? 2U : length >= first_line ? 1U : 0U);
      cells.keep(key('c'), "third");
    }
    const CellFile again(path);
    EXPECT_EQ(again.find(key('c')), "third");
  }
}

TEST(CellFile, DamageIsSaidAndNotUsed) {
  const ScratchFolder folder;
  {
    CellFile cells(folder / "cells");
    cells.keep(key('a'), "50.25");
    cells.keep(key('b'), "60.25");
  }
  std::string text = content_of(folder / "cells");
  text[text.find("50.25")] = '9';
  const auto path = folder.write("damaged", text);
  expect_error(ErrorKind::kFormat, "line 1", [&] { CellFile cells(path); });
  EXPECT_EQ(content_of(path), text);
}

TEST(CellFile, TwoRunsDoNotShareOne) {
  const ScratchFolder folder;
  const CellFile first(folder / "cells");
  expect_error(ErrorKind::kInput, "in use", [&] { CellFile second(folder / "cells"); });
}

}  // namespace
}  // namespace annulus
