// The catalogue that is built in says what a user must know of every network, and a broken one is rejected in a
// sentence that names entry and field.
#include "annulus/pipeline/backbones/backbone_catalogue.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

TEST(BackboneCatalogue, SaysWhatAUserMustKnow) {
  const auto entries = parse_catalogue(kBackbonesText, "built in");
  EXPECT_GE(entries.size(), 30U);
  std::set<std::string> advice;
  for (const BackboneEntry& entry : entries) {
    EXPECT_FALSE(entry.licence.empty()) << entry.name;
    EXPECT_FALSE(entry.trained_on.empty()) << entry.name;
    EXPECT_FALSE(entry.verified_by.empty()) << entry.name;
    EXPECT_TRUE(entry.address.starts_with("https://") || !entry.npm_item.empty()) << entry.name;
    EXPECT_TRUE(entry.commercial_use || !entry.licence_address.empty()) << entry.name;
    EXPECT_TRUE(!entry.gated || !entry.by_hand.empty()) << entry.name;
    EXPECT_LE(entry.name.size(), 21U) << entry.name << ": the table has no room for it";
    advice.insert(entry.advice);
  }
  for (const char* words : {"good start", "best on a CPU", "best"}) EXPECT_TRUE(advice.contains(words)) << words;
}

TEST(BackboneCatalogue, HasEverySystemOfThePaper) {
  for (const char* name : {"dino-vits16", "dino-vits8", "mocov3-vits16", "msn-vits16", "msn-vitb4", "msn-vitl7",
                           "simclr-resnet50", "byol-resnet50", "pmf-vits16-mini", "pmf-vitb16-mini",
                           "pmf-resnet50-mini", "pmf-vits16-cifar", "pmf-vitb16-cifar", "pmf-resnet50-cifar",
                           "s2m2r-wrn28-mini", "s2m2r-wrn28-cifar", "meta-baseline-mini", "meta-baseline-cifar"}) {
    EXPECT_NE(find_backbone(name), nullptr) << name;
  }
  EXPECT_EQ(find_backbone("resnet5000"), nullptr);
  EXPECT_EQ(nearest_backbone("dinov2-vits-14"), "dinov2-vits14");
  EXPECT_EQ(nearest_backbone("resnet5"), "resnet50");
  EXPECT_EQ(nearest_backbone("something else"), "");
  EXPECT_EQ(nearest_backbone(std::string(100'000, 'x')), "");
}

TEST(BackboneCatalogue, TellsTheDataAndTheSize) {
  BackboneEntry entry;
  entry.trained_on = "photos";
  EXPECT_EQ(training_text(entry), "photos, without labels");
  entry.labels = true;
  EXPECT_EQ(training_text(entry), "photos, with labels");
  EXPECT_EQ(download_megabytes(entry), 0.0);
  entry.megabytes = 7.5;
  EXPECT_EQ(download_megabytes(entry), 7.5);
  entry.bytes = 88'000'000;
  EXPECT_EQ(download_megabytes(entry), 88.0);
}

TEST(BackboneCatalogue, TheUsersFileIsWhereTheSystemKeepsSettings) {
  const char* const home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::setenv("XDG_CONFIG_HOME", "/settings", 1);
  EXPECT_EQ(user_catalogue_file(), "/settings/annulus/backbones.json");
  ::unsetenv("XDG_CONFIG_HOME");
  ::setenv("HOME", "/me", 1);
  EXPECT_EQ(user_catalogue_file(), "/me/.config/annulus/backbones.json");
  ::unsetenv("HOME");
  EXPECT_EQ(user_catalogue_file(), "");
  if (home != nullptr) ::setenv("HOME", before.c_str(), 1);
}

nlohmann::json small_entry() {
  return {{"name", "mine"},          {"family", "dino"},       {"network", "ViT-S/16"},
          {"labels", false},         {"dimension", 384},       {"image_size", 224},
          {"licence", "Apache-2.0"}, {"commercial_use", true}, {"address", "https://host.example/file.pth"},
          {"arch", "vit-s/16"}};
}

std::string catalogue_of(const nlohmann::json& entry) {
  return nlohmann::json{{"backbones", nlohmann::json::array({entry})}}.dump();
}

std::string fault_of(const std::string& text) {
  try {
    parse_catalogue(text, "my.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat) << error.what();
    return error.what();
  }
  return "none";
}

TEST(BackboneCatalogue, AnEntryNeedsLittle) {
  const auto entries = parse_catalogue(catalogue_of(small_entry()), "my.json");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].format, "checkpoint");
  EXPECT_EQ(entries[0].verified_by, "first download");
  EXPECT_TRUE(parse_catalogue(R"({"backbones": []})", "my.json").empty());
}

TEST(BackboneCatalogue, AFaultIsNamedByEntryAndField) {
  const auto with = [](const char* field, const nlohmann::json& value) {
    nlohmann::json entry = small_entry();
    entry[field] = value;
    return fault_of(catalogue_of(entry));
  };
  const auto without = [](const char* field) {
    nlohmann::json entry = small_entry();
    entry.erase(field);
    return fault_of(catalogue_of(entry));
  };
  EXPECT_EQ(without("dimension"), "my.json: entry mine: field \"dimension\": expected a whole number, found none");
  EXPECT_EQ(without("name"), "my.json: entry 1: field \"name\": expected a text, found none");
  EXPECT_EQ(without("labels"), "my.json: entry mine: field \"labels\": expected true or false, found none");
  EXPECT_EQ(without("arch"),
            "my.json: entry mine: field \"arch\": expected the architecture of the checkpoint, found none");
  EXPECT_EQ(with("dimention", 3), "my.json: entry mine: field \"dimention\": there is no such field");
  EXPECT_EQ(with("dimension", 3.5), "my.json: entry mine: field \"dimension\": expected a whole number, found 3.5");
  EXPECT_EQ(with("dimension", "many"),
            "my.json: entry mine: field \"dimension\": expected a number from 1 to 1048576, found string");
  EXPECT_EQ(with("bytes", -1),
            "my.json: entry mine: field \"bytes\": expected a number from 1 to 1000000000000000, found -1");
  for (const char* name : {"../up", "a/b", ".hidden", "-x", "a b"}) {
    EXPECT_NE(with("name", name).find("field \"name\": expected up to 64 letters"), std::string::npos) << name;
  }
  EXPECT_NE(with("address", "ftp://x/y").find("field \"address\": expected https:// or http://"), std::string::npos);
  EXPECT_NE(with("sha256", "ABC").find("expected 8 to 64 hexadecimal digits"), std::string::npos);
  EXPECT_NE(with("verified_by", "publisher").find("field \"verified_by\": expected a sha256"), std::string::npos);
  EXPECT_NE(with("verified_by", "me").find("expected one of publisher, others, first download"), std::string::npos);
  EXPECT_NE(with("format", "zip").find("expected one of checkpoint, onnx, tfjs"), std::string::npos);
  EXPECT_NE(with("format", "onnx").find("field \"preprocess\": expected the preprocessing"), std::string::npos);
  EXPECT_NE(with("preprocess", "sideways").find("field \"preprocess\": preprocessing \"sideways\" is not known"),
            std::string::npos);
  EXPECT_NE(with("imagenet_accuracy", 70).find("expected imagenet_measure"), std::string::npos);
  EXPECT_NE(with("licence", "two\nlines").find("control characters"), std::string::npos);
  EXPECT_NE(with("npm_item", "x").find("either an address or an npm_item"), std::string::npos);
}

TEST(BackboneCatalogue, WhatIsNoCatalogueIsRejected) {
  for (const char* text : {"", "{", "[]", "{}", R"({"backbones": 1})", R"({"backbones": [], "more": 1})", "\xff\xfe"}) {
    EXPECT_TRUE(fault_of(text).starts_with("my.json: expected ")) << text;
  }
  EXPECT_EQ(fault_of(R"({"backbones": [1]})"), "my.json: entry 1: expected an object, found number");
  const nlohmann::json twice{{"backbones", {small_entry(), small_entry()}}};
  EXPECT_EQ(fault_of(twice.dump()), "my.json: entry mine: field \"name\": there is another entry of this name");
}

}  // namespace
}  // namespace annulus
