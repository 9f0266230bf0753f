// annulus serve: predictions over HTTP.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "annulus/base/error.h"
#include "annulus/store/files/whole_file.h"
#include "cli/command.h"
#include "cli/encoder.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/log_writer.h"
#include "cli/terminal/progress_bar.h"
#include "server/decode/decode_worker.h"
#include "server/predict/predict_server.h"

namespace annulus::cli {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kMaxTokenBytes = 4096;

volatile std::sig_atomic_t load_requested = 0;

void request_load(int) { load_requested = 1; }

struct ServeCommand {
  std::vector<std::string> models;
  server::ServeOptions serve;
  std::string token_file;
  std::string token_variable;
  std::string log;
  std::optional<std::size_t> max_per_address;
  double max_wait_ms = 0.0;
  std::size_t deadline_ms = 10'000;
  std::size_t max_body_mb = 32;
  std::size_t max_megapixels = 50;
  std::size_t drain_ms = 10'000;
  bool no_sandbox = false;
  bool quiet = false;
};

// The token without the white space around it: files end with a newline.
std::string trimmed(std::string text) {
  const char* space = " \t\r\n";
  text.erase(0, text.find_first_not_of(space));
  text.erase(text.find_last_not_of(space) + 1);
  return text;
}

std::string read_token(const ServeCommand& options) {
  std::string token;
  if (!options.token_file.empty()) {
    const WholeFile file = read_whole_file(options.token_file, kMaxTokenBytes);
    token = trimmed({reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
  } else if (!options.token_variable.empty()) {
    const char* value = std::getenv(options.token_variable.c_str());
    token = trimmed(value == nullptr ? "" : value);
  } else {
    return {};
  }
  if (token.size() < 16) fail(ErrorKind::kUsage, "expected a token of at least 16 characters, found {}", token.size());
  return token;
}

bool take_load_request() {
  if (load_requested == 0) return false;
  load_requested = 0;
  return true;
}

bool is_loopback(const std::string& address) { return address.starts_with("127.") || address == "::1"; }

void fill_in(ServeCommand& options) {
  server::ServeOptions& serve = options.serve;
  const std::size_t of_address = is_loopback(serve.http.address) ? 0 : (serve.http.max_connections + 3) / 4;
  serve.http.max_per_address = options.max_per_address.value_or(of_address);
  serve.token = read_token(options);
  serve.batch.threads = serve.image_threads;
  serve.batch.max_wait = std::chrono::microseconds(static_cast<std::int64_t>(options.max_wait_ms * 1e3));
  serve.deadline = std::chrono::milliseconds(options.deadline_ms);
  serve.http.max_body_bytes = options.max_body_mb * kMegabyte;
  serve.http.max_waiting_bytes = 16 * serve.http.max_body_bytes;
  serve.http.drain_time = std::chrono::milliseconds(options.drain_ms);
  serve.image.max_bytes = serve.http.max_body_bytes;
  serve.image.max_pixels = options.max_megapixels * 1'000'000;
  // This very program, also when its file was replaced meanwhile.
  if (!options.no_sandbox) serve.decoder.command = {"/proc/self/exe", "decode-worker"};
}

void run_serve(ServeCommand options) {
  fill_in(options);
  const bool json = options.log == "json" || (options.log.empty() && isatty(STDERR_FILENO) == 0);
  outlive_readers();
  LogWriter log(json ? LogForm::kJson : LogForm::kText, !options.quiet);
  // Also what is said about backbones goes through the log: standard error may be a pipe that nobody reads.
  options.serve.encoder.note = [&log](const std::string& line) {
    log.add({server::LogLevel::kInfo, "note", {{"text", line}}});
  };
  std::vector<server::ModelSource> models;
  for (const std::string& model : options.models) models.push_back(server::model_source_of(model));
  ProgressBar bar(options.quiet || json);
  server::PredictServer server(
      options.serve, models, [&log](const server::LogEvent& event) { log.add(event); }, bar.callback());
  bar.clear();
  struct sigaction action {};
  action.sa_handler = request_load;
  sigaction(SIGHUP, &action, nullptr);
  const std::string& address = options.serve.http.address;
  const bool bracketed = address.find(':') != std::string::npos;
  const std::string url =
      fmt::format("http://{}{}{}:{}", bracketed ? "[" : "", address, bracketed ? "]" : "", server.port());
  if (options.serve.token.empty() && !is_loopback(address)) {
    log.add({server::LogLevel::kWarning, "open to the network without a token", {{"address", address}}});
  }
  log.add({server::LogLevel::kInfo, "listening", {{"url", url}}});
  fmt::print("{}\n", url);
  std::fflush(stdout);
  server.run(interrupted, take_load_request);
  log.add({server::LogLevel::kInfo, "stopped", {}});
}

void add_queue_options(CLI::App& command, ServeCommand& options) {
  constexpr const char* kQueueGroup = "Queues";
  server::ServeOptions& serve = options.serve;
  const auto number = [&](const char* name, std::size_t& value, const char* meaning) {
    command.add_option(name, value, meaning)
        ->type_name("N")
        ->check(CLI::PositiveNumber.description(""))
        ->capture_default_str()
        ->group(kQueueGroup);
  };
  number("--max-batch", serve.batch.max_rows, "Rows per batch");
  command
      .add_option("--max-wait-ms", options.max_wait_ms, "Time to wait for more rows; 0: take those that are waiting")
      ->type_name("MS")
      ->check(CLI::Range(0.0, 1000.0).description(""))
      ->capture_default_str()
      ->group(kQueueGroup);
  number("--queue", serve.batch.max_queue_rows, "Rows that may wait; more get status 429");
  number("--image-queue", serve.max_queue_images, "Images that may wait; more get status 429");
  number("--deadline-ms", options.deadline_ms, "Time that a request may wait before it gets status 504");
  number("--drain-ms", options.drain_ms, "Time for requests under way when the server stops");
  command
      .add_option("--threads", serve.image_threads,
                  "Threads that encode images, and threads that predict; 0: all processors")
      ->type_name("N")
      ->check(CLI::Range(0, 4096).description(""))
      ->capture_default_str()
      ->group(kQueueGroup);
}

void add_limit_options(CLI::App& command, ServeCommand& options) {
  constexpr const char* kLimitGroup = "Limits";
  server::ServeOptions& serve = options.serve;
  const auto number = [&](const char* name, std::size_t& value, std::size_t most, const char* meaning) {
    command.add_option(name, value, meaning)
        ->type_name("N")
        ->check(CLI::Range(std::size_t{1}, most).description(""))
        ->capture_default_str()
        ->group(kLimitGroup);
  };
  number("--max-body", options.max_body_mb, 4096, "Megabytes per request");
  number("--max-pixels", options.max_megapixels, 1000, "Millions of pixels per image");
  number("--max-side", serve.image.max_side, 100'000, "Pixels of an image's longer side");
  number("--max-rows", serve.body.max_rows, 1'000'000, "Rows of features per request");
  number("--max-images", serve.body.max_images, 4096, "Images per request");
  number("--max-connections", serve.http.max_connections, 100'000,
         "Simultaneous connections; a further one takes the place of one that is idle, or gets status 503");
  command
      .add_option("--max-per-address", options.max_per_address,
                  "Connections from one address, more get status 503; 0: no limit of its own. Default: a quarter of "
                  "--max-connections; on a loopback address, where a proxy may stand for all clients: 0")
      ->type_name("N")
      ->group(kLimitGroup);
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ServeCommand>();
  options->serve.http.port = 8080;
  CLI::App& command = *app.add_subcommand("serve", "Serve predictions over HTTP");
  command.add_option("MODEL", options->models, "Model files written by fit; NAME=FILE: served under that name")
      ->required()
      ->type_name("");
  command.add_option("--host", options->serve.http.address, "Address to listen on; 0.0.0.0: all of this machine")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command.add_option("--port", options->serve.http.port, "Port; 0: one that is free")
      ->type_name("N")
      ->capture_default_str();
  auto* file = command.add_option("--token-file", options->token_file, "File with a token that requests must carry");
  file->type_name("FILE");
  command.add_option("--token-env", options->token_variable, "Environment variable with that token")
      ->type_name("NAME")
      ->excludes(file);
  command
      .add_option("--cors", options->serve.cors_origins,
                  "Origin whose pages may send requests, may be given several times; *: any; default: none, pages of "
                  "other origins get status 403")
      ->type_name("ORIGIN")
      ->allow_extra_args(false);
  command
      .add_option(
          "--false-reject", options->serve.false_reject,
          "False-rejection rate: fraction of known inputs that may be rejected as unknown, unless a request sets it")
      ->type_name("RATE")
      ->check(CLI::Range(0.0, 0.999).description(""))
      ->capture_default_str();
  command.add_option("--log", options->log, "Format of log lines; default: text on a terminal, else json")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"json", "text"}));
  command.add_flag("-q,--quiet", options->quiet, "No log line for each request");
  add_queue_options(command, *options);
  add_limit_options(command, *options);
  command
      .add_option("--backbone", options->serve.encoder.backbone,
                  "Network that encodes images: a name that annulus backbones lists, or an ONNX file; default: that of "
                  "each model")
      ->type_name("NAME|FILE");
  command
      .add_option("--precision", options->serve.encoder.precision,
                  "Numbers that the network computes with: float32 or int8, also where a model was trained with the "
                  "other; default: that of each model")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"float32", "int8"}));
  add_offline(command);
  command.add_flag("--features-only", options->serve.features_only,
                   "Take features and no images: no network is opened, and the server is ready without one");
  command.add_flag("--no-sandbox", options->no_sandbox,
                   "Decode images in the server itself, where its files, its network and its token are: for systems "
                   "that cannot confine a process");
  add_example(command,
              "  annulus serve birds.safetensors flowers=other.safetensors --port 8080\n"
              "  curl --data-binary @photo.jpg 'http://127.0.0.1:8080/predict?model=birds&top=3'");
  command.callback([options, &action] { action = [options] { run_serve(*options); }; });
}

void add_decode_worker(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("decode-worker", "Decode images for annulus serve, which starts it");
  command.group("");  // hidden: of no use by itself
  // Without destructors, which may ask for what a confined process does not have.
  command.callback([&action] { action = [] { std::_Exit(server::run_decode_worker()); }; });
}

}  // namespace annulus::cli
