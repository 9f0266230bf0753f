// The pickle reader makes nodes, bounds its work and rejects what is broken.
#include "annulus/vision/import/pickle.h"

#include <gtest/gtest.h>

#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

using namespace std::string_literals;

PickleDocument parse(const std::string& text, const PickleLimits& limits = {}) {
  return read_pickle(std::as_bytes(std::span(text)), "test", limits);
}

std::string error_of(const std::string& text, const PickleLimits& limits = {}) {
  try {
    parse(text, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    return error.what();
  }
  return "no error";
}

TEST(Pickle, ReadsScalars) {
  // (None, True, -2, 255, 300, 2**40, -1, 0.5, "ab") by protocol 2
  const std::string text =
      "\x80\x02(N\x88J\xfe\xff\xff\xff"
      "K\xff"
      "M\x2c\x01\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x01\xffG\x3f\xe0\x00\x00\x00\x00\x00\x00X\x02\x00\x00\x00"
      "abt."s;
  const PickleDocument document = parse(text);
  ASSERT_EQ(document.nodes[document.root].kind, PickleKind::kList);
  const auto items = document.children_of(document.root);
  ASSERT_EQ(items.size(), 9U);
  EXPECT_EQ(document.nodes[items[0]].kind, PickleKind::kNone);
  EXPECT_EQ(document.nodes[items[1]].integer, 1);
  EXPECT_EQ(document.nodes[items[2]].integer, -2);
  EXPECT_EQ(document.nodes[items[3]].integer, 255);
  EXPECT_EQ(document.nodes[items[4]].integer, 300);
  EXPECT_EQ(document.nodes[items[5]].integer, std::int64_t{1} << 40);
  EXPECT_EQ(document.nodes[items[6]].integer, -1);
  EXPECT_EQ(document.nodes[items[7]].kind, PickleKind::kFloat);
  EXPECT_EQ(document.nodes[items[8]].text, "ab");
  EXPECT_EQ(document.size, text.size());
}

TEST(Pickle, ReadsProtocolFourAndStopsAtTheEndOfThePickle) {
  // {"a": [1, 2]} by protocol 4, and bytes after it
  const std::string text =
      "\x80\x04\x95\x11\0\0\0\0\0\0\0}\x94\x8c\x01"
      "a\x94]\x94(K\x01K\x02"
      "es.rest"s;
  const PickleDocument document = parse(text);
  EXPECT_EQ(document.size, text.size() - 4);
  const auto pair = document.children_of(document.root);
  ASSERT_EQ(pair.size(), 2U);
  EXPECT_EQ(document.nodes[pair[0]].text, "a");
  EXPECT_EQ(document.children_of(pair[1]).size(), 2U);
}

TEST(Pickle, CallsBecomeNodesAndNothingRuns) {
  const std::string text =
      "\x80\x02"
      "cos\nsystem\nX\x04\x00\x00\x00true\x85R."s;
  const PickleDocument document = parse(text);
  ASSERT_EQ(document.nodes[document.root].kind, PickleKind::kCall);
  EXPECT_EQ(document.nodes[document.children_of(document.root)[0]].text, "os.system");
}

TEST(Pickle, AStateIsKeptBesideTheCall) {
  const PickleDocument document = parse(
      "\x80\x02"
      "ca\nB\n)\x81}b."s);
  ASSERT_EQ(document.nodes[document.root].kind, PickleKind::kObject);
  const auto parts = document.children_of(document.root);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(document.nodes[parts[0]].text, "a.B");
  EXPECT_EQ(document.nodes[parts[2]].kind, PickleKind::kDict);
  // A second state is dropped, and so is that of a dict.
  const PickleDocument twice = parse(
      "\x80\x02"
      "ca\nB\n)\x81}bNb."s);
  ASSERT_EQ(twice.children_of(twice.root).size(), 3U);
  EXPECT_EQ(twice.nodes[twice.children_of(twice.root)[2]].kind, PickleKind::kDict);
  const PickleDocument dict = parse("\x80\x02}Nb."s);
  EXPECT_EQ(dict.nodes[dict.root].kind, PickleKind::kDict);
  EXPECT_TRUE(dict.children_of(dict.root).empty());
}

TEST(Pickle, ACycleIsReadOnce) {
  const PickleDocument document = parse("\x80\x02]q\0h\0a."s);
  ASSERT_EQ(document.children_of(document.root).size(), 1U);
  EXPECT_EQ(document.children_of(document.root)[0], document.root);
}

TEST(Pickle, RejectsBrokenPickles) {
  EXPECT_NE(error_of(""s).find("ends in the middle"), std::string::npos);
  EXPECT_NE(error_of("\x80\x02."s).find("stack is empty"), std::string::npos);
  EXPECT_NE(error_of("\x80\x09N."s).find("protocol is newer"), std::string::npos);
  EXPECT_NE(error_of("\x80\x02X\xff\xff\xff\x7f"
                     "ab."s)
                .find("ends in the middle"),
            std::string::npos);
  EXPECT_NE(error_of("\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                     "ab."s)
                .find("ends in the middle"),
            std::string::npos);
  EXPECT_NE(error_of("\x80\x02t."s).find("mark is missing"), std::string::npos);
  EXPECT_NE(error_of("\x80\x02Nr\xff\xff\xff\xff."s).find("memo number is too large"), std::string::npos);
  EXPECT_NE(error_of("\x80\x02h\x07."s).find("memo number is unknown"), std::string::npos);
  EXPECT_NE(error_of("\x80\x02N(NNe."s).find("holds none"), std::string::npos);
  EXPECT_NE(error_of("\x80\x02}(Nu."s).find("key has no value"), std::string::npos);
  EXPECT_NE(error_of("\x80\x02(0."s).find("stack is empty"), std::string::npos);
  EXPECT_NE(error_of("I12\n."s).find("opcode 0x49 at byte 0"), std::string::npos);
}

TEST(Pickle, BoundsItsMemory) {
  PickleLimits limits;
  limits.nodes = 100;
  EXPECT_NE(error_of(std::string(101, ']') + ".", limits).find("more than 100 values"), std::string::npos);
  EXPECT_NE(error_of(std::string(200, '(') + ".", limits).find("too deep"), std::string::npos);
  EXPECT_NE(error_of("N" + std::string(200, '2') + ".", limits).find("too deep"), std::string::npos);
  EXPECT_NE(error_of("c" + std::string(300, 'm') + "\nname\n.").find("too long"), std::string::npos);
}

}  // namespace
}  // namespace annulus
