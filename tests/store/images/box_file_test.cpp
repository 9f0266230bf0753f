// Boxes of COCO, MegaDetector and metadata, joined with photos; damaged files.
#include "annulus/store/images/box_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "annulus/store/images/image_folder.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kCoco = R"json({
  "images": [{"id": 7, "file_name": "cat/1.jpg", "width": 40, "height": 24}, {"id": 8, "file_name": "dog/2.jpg"},
             {"id": 9, "file_name": "dog/3.jpg"}],
  "categories": [{"id": 1, "name": "paw"}, {"id": 2, "name": "tail"}],
  "annotations": [
    {"id": 1, "image_id": 8, "category_id": 2, "bbox": [1, 2, 3.5, 4], "segmentation": [[1, 2, 3, 4]], "iscrowd": 0},
    {"id": 2, "image_id": 7, "category_id": 1, "bbox": [5, 6, 7, 8]},
    {"id": 3, "image_id": 8, "category_id": 1, "bbox": [0, 0, 9, 9]},
    {"id": 4, "image_id": 8, "category_id": 1, "bbox": [0, 0, 9, 9], "iscrowd": 1}]})json";

constexpr const char* kDetections = R"json({
  "info": {"format_version": "1.3"},
  "detection_categories": {"1": "animal", "2": "person"},
  "images": [
    {"file": "cat/1.jpg", "detections": [
      {"category": "1", "conf": 0.9, "bbox": [0.25, 0.5, 0.5, 0.25]}, {"category": "2", "conf": 0.9, "bbox": [0, 0, 1, 1]},
      {"category": "1", "conf": 0.1, "bbox": [0, 0, 0.5, 1]}]},
    {"file": "dog/2.jpg", "detections": []},
    {"file": "dog/3.jpg", "failure": "Failure image access"}]})json";

class BoxFileTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"cat/1.jpg", "dog/2.jpg", "dog/3.jpg"}) {
      std::filesystem::create_directories((folder_ / name).parent_path());
      folder_.write(name, "x");
    }
  }
  ImageList list(const BoxOptions& boxes) const {
    ImageListOptions options;
    options.boxes = boxes;
    return list_images(folder_.path(), options);
  }
  Names names_of(const ImageList& list) const {
    Names names;
    for (const std::string& path : list.paths) names.push_back(path.substr(folder_.path().string().size() + 1));
    return names;
  }
  ScratchFolder folder_;
};

bool has_warning(const ImageList& list, const std::string& words) {
  return std::any_of(list.warnings.begin(), list.warnings.end(),
                     [&](const std::string& warning) { return warning.find(words) != std::string::npos; });
}

TEST_F(BoxFileTest, FoldersGiveTheClassesOfBoxes) {
  const ImageList found = list({folder_.write("coco.json", kCoco)});
  EXPECT_EQ(names_of(found), (Names{"cat/1.jpg#xywh=5,6,7,8", "dog/2.jpg#xywh=1,2,3.5,4", "dog/2.jpg#xywh=0,0,9,9"}));
  EXPECT_EQ(found.class_names, (Names{"cat", "dog"}));
  EXPECT_EQ(found.labels, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(found.groups, (std::vector<std::int32_t>{0, 1, 1}));  // the boxes of a photo stay together
  EXPECT_TRUE(has_warning(found, "passed over 1 boxes of crowds"));
  EXPECT_TRUE(has_warning(found, "passed over 1 images in which"));
}

TEST_F(BoxFileTest, CategoriesAreClassesOfAFileAlone) {
  const ImageList found = list_images(folder_.write("coco.json", kCoco));
  EXPECT_EQ(names_of(found), (Names{"cat/1.jpg#xywh=5,6,7,8", "dog/2.jpg#xywh=1,2,3.5,4", "dog/2.jpg#xywh=0,0,9,9"}));
  EXPECT_EQ(found.class_names, (Names{"paw", "tail"}));
  EXPECT_EQ(found.labels, (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_TRUE(holds_images(folder_ / "coco.json"));
}

TEST_F(BoxFileTest, AnimalsThatMegaDetectorIsSureOf) {
  const ImageList found = list({folder_.write("md.json", kDetections)});
  EXPECT_EQ(names_of(found), (Names{"cat/1.jpg#xywh=percent:25,50,50,25"}));
  EXPECT_TRUE(has_warning(found, "passed over 1 boxes of other things than animals"));
  EXPECT_TRUE(has_warning(found, "passed over 1 boxes of a confidence below 0.2"));
  EXPECT_TRUE(has_warning(found, "passed over 2 images in which"));
  EXPECT_EQ(list({folder_ / "md.json", 0.05}).paths.size(), 2U);
}

TEST_F(BoxFileTest, MetadataBesideThePhotosOrElsewhere) {
  const char* const text = "file,x,y,width,height\ndog/2.jpg,1,2,3,4\ndog/2.jpg,5,6,7,8\ncat/1.jpg,,,,\n";
  const ImageList found = list({folder_.write("boxes.csv", text)});
  EXPECT_EQ(names_of(found), (Names{"dog/2.jpg#xywh=1,2,3,4", "dog/2.jpg#xywh=5,6,7,8"}));
  EXPECT_EQ(found.class_names, (Names{"dog"}));

  // metadata.csv in the folder itself is a layout; the photo without a box is taken whole.
  folder_.write("metadata.csv", text);
  EXPECT_EQ(names_of(list({})), (Names{"dog/2.jpg#xywh=1,2,3,4", "dog/2.jpg#xywh=5,6,7,8", "cat/1.jpg"}));
  folder_.write("metadata.csv", "file,label,x,y,width,height\ndog/2.jpg,a,0.5,0,0.5,1\ncat/1.jpg,b,0,0,1,0.25\n");
  EXPECT_EQ(names_of(list({})), (Names{"dog/2.jpg#xywh=percent:50,0,50,100", "cat/1.jpg#xywh=percent:0,0,100,25"}));
}

TEST_F(BoxFileTest, DamagedFilesAreRejectedInASentence) {
  const auto rejected = [&](const std::string& text, ErrorKind kind, const std::string& words) {
    const auto path = folder_.write("b.json", text);
    expect_error(kind, path.string() + ": " + words, [&] { read_boxes_as_rows(path, {}); });
  };
  const std::string coco = kCoco;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = coco;
    return text.replace(text.find(from), from.size(), to);
  };
  for (std::size_t end = 0; end < coco.size(); end += 7) {
    rejected(coco.substr(0, end), ErrorKind::kFormat, "expected boxes as COCO or MegaDetector write them");
  }
  rejected("[]", ErrorKind::kFormat, "expected boxes as COCO");
  rejected("{\"images\": {}}", ErrorKind::kFormat, "expected boxes as COCO");
  expect_error(ErrorKind::kFormat, "annotations[0]: expected bbox to be x, y, width and height",
               [&] { read_box_json(folder_.write("b.json", changed("[1, 2, 3.5, 4]", "[1, 2, 0, 4]")), {}); });
  expect_error(ErrorKind::kFormat, "annotations[0]: expected image_id to be one of the images",
               [&] { read_box_json(folder_.write("b.json", changed("\"image_id\": 8", "\"image_id\": 80")), {}); });
  expect_error(ErrorKind::kFormat, "annotations[0]: expected category_id to be one of the categories", [&] {
    read_box_json(folder_.write("b.json", changed("\"category_id\": 2", "\"category_id\": 5")), {});
  });
  expect_error(ErrorKind::kFormat, "images[1]: expected an id of its own",
               [&] { read_box_json(folder_.write("b.json", changed("\"id\": 8", "\"id\": 7")), {}); });
  rejected(changed("cat/1.jpg", "cat/9.jpg"), ErrorKind::kInput, "expected the image ");
  std::string detections = kDetections;
  detections.replace(detections.find("0.9"), 3, "\"a\"");
  expect_error(ErrorKind::kFormat, "images[0].detections[0]: expected conf to be a number",
               [&] { read_box_json(folder_.write("b.json", detections), {}); });
}

TEST_F(BoxFileTest, PhotosWithoutAnyBoxAreAnError) {
  expect_error(ErrorKind::kInput, "expected boxes in some of the 3 images", [&] {
    list({folder_.write("md.json", kDetections), 0.95});
  });
}

}  // namespace
}  // namespace annulus
