// Files mapped into memory: their bytes, empty ones, and what is no file.
#include "annulus/store/files/mapped_file.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "annulus/base/error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(MappedFile, HasTheBytesOfTheFileAlsoAfterItIsReplaced) {
  const ScratchFolder folder;
  const FileBytes file = map_file(folder.write("a", "some bytes"));
  std::filesystem::rename(folder.write("b", "others"), folder / "a");
  EXPECT_EQ(as_text(file.bytes), "some bytes");
  EXPECT_NE(file.source.find("a"), std::string::npos);
}

TEST(MappedFile, AnEmptyFileHasNoBytes) {
  const ScratchFolder folder;
  EXPECT_TRUE(MappedFile(folder.write("empty", "")).bytes().empty());
}

TEST(MappedFile, WhatIsMissingOrAFolderIsAnErrorOfTheSystem) {
  const ScratchFolder folder;
  for (const auto& path : {folder / "missing", folder.path()}) {
    try {
      MappedFile file(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kIo);
      EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    }
  }
}

TEST(MappedFile, AnAddressHasTheNameOfItsFile) {
  const ScratchFolder folder;
  const auto first = std::make_unique<MappedFile>(folder.write("first", "some bytes"));
  auto second = std::make_unique<MappedFile>(folder.write("second", "others"));
  const void* const inside = first->bytes().data() + 9;
  const void* const elsewhere = second->bytes().data();
  EXPECT_EQ(mapped_file_at(inside), (folder / "first").string());
  EXPECT_EQ(mapped_file_at(elsewhere), (folder / "second").string());
  EXPECT_EQ(mapped_file_at(first->bytes().data() + 10), "");
  second.reset();
  EXPECT_EQ(mapped_file_at(elsewhere), "");
  EXPECT_EQ(mapped_file_at(inside), (folder / "first").string());
  EXPECT_EQ(mapped_file_at(nullptr), "");
}

}  // namespace
}  // namespace annulus
