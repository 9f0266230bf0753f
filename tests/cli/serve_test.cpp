// annulus serve: the same answers as predict for features and images, signals, tokens, complaints.
#include <fmt/format.h>

#include "annulus/vision/image/svg.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/program.h"
#include "tests/fixtures/raw_client.h"

namespace annulus {
namespace {

using nlohmann::json;
using server::RawClient;
using server::RawResponse;

// The program, serving on a port of its own until the test asks it to stop.
class Serving {
 public:
  explicit Serving(std::vector<std::string> arguments) : child_(folder_, command(std::move(arguments))) {
    const bool listening = server::eventually([this] {
      const std::string url = read_text(folder_ / ".out");
      if (url.ends_with("\n")) port_ = static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
      return port_ != 0;
    });
    if (!listening) throw std::runtime_error("not listening: " + read_text(folder_ / ".err"));
  }

  std::uint16_t port() const { return port_; }
  Outcome stop(int signal = SIGTERM) {
    child_.signal(signal);
    return child_.wait();
  }
  void hang_up() const { child_.signal(SIGHUP); }
  std::string log() const { return child_.err_so_far(); }

 private:
  static std::vector<std::string> command(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "serve");
    arguments.insert(arguments.end(), {"--port", "0"});
    return annulus_command(std::move(arguments));
  }

  Scratch folder_;
  Child child_;
  std::uint16_t port_ = 0;
};

// One line of `predict --format jsonl` beside one prediction of the server: they differ in what names the row alone.
void expect_same(json line, json answer) {
  EXPECT_TRUE(answer.contains("row")) << answer;
  line.erase("path");
  line.erase("row");
  answer.erase("row");
  EXPECT_EQ(line, answer);
}

TEST(Serve, AnswersFeaturesAsPredictDoes) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "birds.safetensors";
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", features, "-q", "-o", model})).exit_code, 0);
  const Outcome predicted =
      run_annulus(scratch, {"predict", model, features, "--explain", "--format", "jsonl", "--top", "3", "-q"});
  const std::vector<json> lines = parse_json_lines(predicted.out);

  Serving serving({model, "again=" + model});
  RawClient client(serving.port());
  const FeatureSet set = read_features(features);
  ASSERT_EQ(lines.size(), set.rows());
  Matrix<float> row(1, set.dimension());
  json all = json::array();
  for (std::size_t i = 0; i < set.rows(); ++i) {
    set.copy_rows(i, row.view());
    all.push_back(std::vector<float>(row.row(0).begin(), row.row(0).end()));
    const RawResponse one = client.ask("POST", "/predict?top=3&explain=1&model=birds",
                                       json{{"features", all.back()}}.dump(), {"Content-Type: application/json"});
    ASSERT_EQ(one.status, 200) << one.body;
    expect_same(lines[i], json::parse(one.body));
  }
  const RawResponse together = client.ask("POST", "/predict?top=3&explain=1&model=again",
                                          json{{"features", all}}.dump(), {"Content-Type: application/json"});
  const json answers = json::parse(together.body);
  ASSERT_EQ(answers.size(), lines.size());
  for (std::size_t i = 0; i < answers.size(); ++i) expect_same(lines[i], answers[i]);

  // The same file read again, without a pause.
  serving.hang_up();
  EXPECT_TRUE(server::eventually([&] { return serving.log().find("model loaded") != std::string::npos; }));
  EXPECT_EQ(client.ask("GET", "/v2/models/again/ready").status, 200);
  client.close();
  const Outcome stopped = serving.stop();
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  std::vector<std::string> events;
  for (const json& line : parse_json_lines(stopped.err)) events.push_back(line["event"]);
  EXPECT_EQ(events.front(), "listening");
  EXPECT_EQ(events.back(), "stopped");
  EXPECT_EQ(std::count(events.begin(), events.end(), "model loaded"), 2);
}

class ServeImages : public NeedsOnnxRuntime {};

TEST_F(ServeImages, AnswersImagesAsPredictDoes) {
  const Scratch scratch;
  const std::string backbone = std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx";
  const char* colours[] = {"blue", "red"};
  for (int i = 0; i < 8; ++i) {
    const std::string file = scratch / fmt::format("photos/{}/{}.png", colours[i % 2], i);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    const auto png = render_svg(
        fmt::format(
            R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="{}" fill="{}"/></svg>)",
            i % 4 + 5, colours[i % 2]),
        16, "test picture");
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  }
  const std::string model = scratch / "model.safetensors";
  const std::vector<std::string> encoder{"--backbone", backbone, "--cache", scratch / "cache"};
  std::vector<std::string> fit{
      "fit",          scratch / "photos",         "--recipe", "baseline", "--no-calibrate", "-q", "-o", model,
      "--preprocess", "unit resize=8x8 crop=none"};
  fit.insert(fit.end(), encoder.begin(), encoder.end());
  const Outcome fitted = run_annulus(scratch, fit);
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  std::vector<std::string> predict{"predict", model, scratch / "photos/red/1.png", "--format", "jsonl", "-q"};
  predict.insert(predict.end(), encoder.begin(), encoder.end());
  const json line = parse_json_lines(run_annulus(scratch, predict).out).at(0);

  Serving serving({model, "--backbone", backbone, "--max-pixels", "1", "-q"});
  RawClient client(serving.port());
  const std::string bytes = read_text(scratch / "photos/red/1.png");
  const RawResponse plain = client.ask("POST", "/predict", bytes, {"Content-Type: image/png"});
  ASSERT_EQ(plain.status, 200) << plain.body;
  expect_same(line, json::parse(plain.body));
  const std::string part =
      "--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"x\"\r\n\r\n" + bytes + "\r\n";
  const RawResponse form =
      client.ask("POST", "/predict", part + part + "--b--\r\n", {"Content-Type: multipart/form-data; boundary=b"});
  ASSERT_EQ(form.status, 200) << form.body;
  EXPECT_EQ(json::parse(form.body).size(), 2U);
  expect_same(line, json::parse(form.body)[1]);
  const json embedded = json::parse(client.ask("POST", "/embed", bytes, {"Content-Type: image/png"}).body);
  const RawResponse features = client.ask("POST", "/predict", json{{"features", embedded["embeddings"]}}.dump(),
                                          {"Content-Type: application/json"});
  expect_same(line, json::parse(features.body)[0]);
  // A picture whose header promises more pixels than allowed is rejected by its header.
  const auto large = render_svg(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"/>)", 1100, "large");
  const RawResponse rejected = client.ask(
      "POST", "/predict", {reinterpret_cast<const char*>(large.data()), large.size()}, {"Content-Type: image/png"});
  EXPECT_EQ(rejected.status, 422) << rejected.body;
  // A model of other features cannot take images: the one that can stays, and stays ready.
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", write_small_features(scratch), "-q", "-o", model})).exit_code, 0);
  const RawResponse lesser = client.ask("POST", "/v2/repository/models/model/load");
  EXPECT_EQ(lesser.status, 400) << lesser.body;
  EXPECT_EQ(client.ask("GET", "/v2/health/ready").status, 200);
  EXPECT_EQ(client.ask("POST", "/predict", bytes, {"Content-Type: image/png"}).status, 200);
  client.close();
  EXPECT_EQ(serving.stop(SIGINT).exit_code, 0);
}

TEST(Serve, TokensComeFromAFileOrTheEnvironment) {
  const Scratch scratch;
  const std::string model = scratch / "m.safetensors";
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", write_small_features(scratch), "-q", "-o", model})).exit_code, 0);
  std::ofstream(scratch / "token") << "a secret of many letters\n";
  Serving serving({model, "--token-file", scratch / "token"});
  RawClient client(serving.port());
  EXPECT_EQ(client.ask("GET", "/v2").status, 401);
  EXPECT_EQ(client.ask("GET", "/v2", "", {"Authorization: Bearer a secret of many letters"}).status, 200);
  client.close();
  EXPECT_EQ(serving.stop().exit_code, 0);
  std::ofstream(scratch / "short") << "short";
  expect_complaint(run_annulus(scratch, {"serve", model, "--token-file", scratch / "short"}), 2,
                   "at least 16 characters");
  expect_complaint(run_annulus(scratch, {"serve", model, "--token-env", "ANNULUS_NO_SUCH_VARIABLE"}), 2, "found 0");
}

TEST(Serve, SaysWhyItCannotStart) {
  const Scratch scratch;
  const std::string model = scratch / "m.safetensors";
  expect_complaint(run_annulus(scratch, {"serve", model}), 5, "cannot read");
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", write_small_features(scratch), "-q", "-o", model})).exit_code, 0);
  expect_complaint(run_annulus(scratch, {"serve", model, model}), 2, "twice");
  expect_complaint(run_annulus(scratch, {"serve", model, "--host", "localhost"}), 2, "number of an address");
  expect_complaint(run_annulus(scratch, {"serve", "=" + model}), 2, "NAME=FILE");
  Serving serving({model});
  const std::string port = std::to_string(serving.port());
  expect_complaint(run_annulus(scratch, {"serve", model, "--port", port}), 5, "cannot listen");
  EXPECT_EQ(serving.stop().exit_code, 0);
}

}  // namespace
}  // namespace annulus
