// The JSON of a prediction: its keys, their order, its numbers to the last bit, names that need escapes.
#include "annulus/report/documents/prediction_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace annulus {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kNames{"heron", "wren \"jenny\"", "owl"};

SupportSet support_of(std::vector<std::string> paths) {
  SupportSet support;
  support.labels = {0, 1, 2};
  support.paths = std::move(paths);
  return support;
}

Prediction prediction() {
  Prediction made;
  made.top = {{1, 0.7F}, {0, 0.1F}, {2, 1.0F / 3.0F}};
  made.unknown_score = 2.0F;
  return made;
}

std::string written(const PredictionJson& json, const PredictionJsonRow& row) {
  std::string text = "kept";
  json.write(row, text);
  EXPECT_EQ(text.substr(0, 4), "kept");
  return text.substr(4);
}

TEST(PredictionJson, NamesTheRowByPathOrNumber) {
  const SupportSet none;
  const PredictionJson json(kNames, none, 1.0);
  const Prediction made = prediction();
  EXPECT_EQ(
      written(json, {.prediction = made, .row = 4, .top = 1}),
      R"({"row":4,"label":"wren \"jenny\"","probability":0.7,"top":[{"label":"wren \"jenny\"","probability":0.7}]})");
  EXPECT_EQ(Json::parse(written(json, {.prediction = made, .row = 4, .path = "a/\"b\".png"}))["path"], "a/\"b\".png");
  EXPECT_EQ(Json::parse(written(json, {.prediction = made}))["top"].size(), 3U);
  EXPECT_EQ(json.quoted_names()[1], R"("wren \"jenny\"")");
}

TEST(PredictionJson, NamesAGroupAndItsLineage) {
  const SupportSet none;
  const ClassTree tree(kNames, {{kNames[0], "birds"}, {kNames[1], "birds"}});
  const PredictionJson json(kNames, none, 1.0, tree);
  EXPECT_EQ(json.quoted_names().size(), kNames.size());
  Prediction made = prediction();
  const auto group = static_cast<std::int32_t>(kNames.size());
  made.lineage = {{group, 0.875F}, {1, 0.75F}};
  const Json unsure = Json::parse(written(json, {.prediction = made}));
  EXPECT_EQ(unsure["label"], "birds");
  EXPECT_EQ(unsure["probability"], 0.875);
  EXPECT_EQ(unsure["best"], kNames[1]);
  EXPECT_EQ(unsure["top"].size(), 3U);
  EXPECT_EQ(unsure["lineage"],
            Json::array({{{"label", "birds"}, {"probability", 0.875}}, {{"label", kNames[1]}, {"probability", 0.75}}}));
  made.level = 1;
  EXPECT_EQ(Json::parse(written(json, {.prediction = made}))["label"], kNames[1]);
  const Json rejected = Json::parse(written(json, {.prediction = made, .may_reject = true, .rejected = true}));
  EXPECT_EQ(rejected["label"], "unknown");
  EXPECT_EQ(rejected["probability"], 0.75);
}

TEST(PredictionJson, NamesThePartOfAFile) {
  const auto written = [](std::string_view path) {
    Prediction prediction;
    prediction.top = {{0, 1.0F}};
    const std::vector<std::string> names = {"a"};
    const SupportSet support;
    std::string out;
    PredictionJson(names, support, 1.0).write({prediction, 0, path}, out);
    return out;
  };
  EXPECT_TRUE(written("p.jpg").starts_with(R"({"path":"p.jpg","label":"a")"));
  EXPECT_TRUE(written("p.jpg#xywh=1,2.5,3,4")
                  .starts_with(R"({"path":"p.jpg#xywh=1,2.5,3,4","file":"p.jpg","box":{"x":1.0,"y":2.5,"width":3.0,)"
                               R"("height":4.0,"unit":"pixel"},"label":"a")"));
  EXPECT_TRUE(written("v.mp4#t=12.5&xywh=percent:1,2,3,4")
                  .starts_with(R"({"path":"v.mp4#t=12.5&xywh=percent:1,2,3,4","file":"v.mp4","seconds":12.5,)"
                               R"("box":{"x":1.0,"y":2.0,"width":3.0,"height":4.0,"unit":"percent"},"label":"a")"));
}

TEST(PredictionJson, NumbersGiveTheSameFloatBack) {
  const SupportSet none;
  const PredictionJson json(kNames, none, 1.0);
  Prediction made = prediction();
  for (const float value : {1.0F / 3.0F, 1e-7F, 1.0F, 0.0F, std::numeric_limits<float>::denorm_min()}) {
    made.top.front().probability = value;
    const Json read = Json::parse(written(json, {.prediction = made}));
    EXPECT_EQ(read["probability"].get<float>(), value);
    EXPECT_TRUE(read["probability"].is_number_float()) << read;
  }
}

TEST(PredictionJson, SaysWhatIsRejected) {
  const SupportSet none;
  const PredictionJson json(kNames, none, 1.0);
  const Prediction made = prediction();
  const Json known = Json::parse(written(json, {.prediction = made, .may_reject = true}));
  EXPECT_EQ(known["unknown"], false);
  EXPECT_EQ(known["label"], kNames[1]);
  EXPECT_EQ(known["unknown_score"], 2.0);
  const Json rejected = Json::parse(written(json, {.prediction = made, .may_reject = true, .rejected = true}));
  EXPECT_EQ(rejected["unknown"], true);
  EXPECT_EQ(rejected["label"], "unknown");
  EXPECT_EQ(rejected["best"], kNames[1]);
  EXPECT_EQ(rejected["top"][0]["label"], kNames[1]);
  EXPECT_FALSE(Json::parse(written(json, {.prediction = made})).contains("unknown"));
}

TEST(PredictionJson, Explains) {
  Prediction made = prediction();
  made.explanation = Explanation{{{2, 0.5F}, {0, 0.25F}}, RankedClass{0, 0.1F}, std::numeric_limits<float>::infinity()};
  const SupportSet named = support_of({"a.png", "b.png", "c.png"});
  const Json with_paths = Json::parse(written(PredictionJson(kNames, named, 1.5), {.prediction = made}))["explain"];
  EXPECT_EQ(with_paths["nearest"], Json::parse(R"([{"path":"c.png","training_row":2,"label":"owl","cosine":0.5},
                            {"path":"a.png","training_row":0,"label":"heron","cosine":0.25}])"));
  EXPECT_EQ(with_paths["runner_up"], Json::parse(R"({"label":"heron","probability":0.1})"));
  EXPECT_TRUE(with_paths["boundary_distance"].is_null());
  EXPECT_EQ(with_paths["epsilon"], 1.5);
  const SupportSet unnamed = support_of({});
  const Json without = Json::parse(written(PredictionJson(kNames, unnamed, 1.5), {.prediction = made}))["explain"];
  EXPECT_FALSE(without["nearest"][0].contains("path"));
}

}  // namespace
}  // namespace annulus
