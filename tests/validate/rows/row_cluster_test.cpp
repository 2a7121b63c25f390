#include "stepwright/validate/rows/row_cluster.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stepwright/core/error.h"
#include "tests/validate/rows/table_rows.h"

namespace stepwright {
namespace {

struct NetworkNote {
  const char* note;
  std::int64_t nics;
  double gigabits;
};

class NetworkNotes : public ::testing::TestWithParam<NetworkNote> {};

TEST_P(NetworkNotes, AreRead) {
  const auto& [note, nics, gigabits] = GetParam();
  const NodeNetwork network = node_network(note, 8);
  EXPECT_EQ(network.nics, nics);
  EXPECT_DOUBLE_EQ(network.nic_bytes_per_s, gigabits * 1e9 / 8);
}

INSTANTIATE_TEST_SUITE_P(
    Published, NetworkNotes,
    ::testing::Values(
        NetworkNote{"200Gb/s HDR InfiniBand (arXiv 2311.05610; NIC count not checked)", 0, 200},
        NetworkNote{"1600 Gbps node-node RoCE (table title)", 8, 200},
        NetworkNote{"4x Omni-Path 100 Gb/s per node (Jean Zay)", 4, 100},
        NetworkNote{"800 Gb/s per node (config inter_node_bandwidth=800)", 8, 100},
        NetworkNote{"Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR 400Gb/s",
                    8, 400},
        NetworkNote{"RoCE 400Gb/s per GPU, 3-layer Clos", 8, 400},
        NetworkNote{"InfiniBand 8x50 GB/s per node", 8, 400},
        NetworkNote{"4 x 100Gb RoCE per node", 4, 100}, NetworkNote{"single node", 0, 0},
        NetworkNote{"BF3 200Gbps for NS and 2xBF3 400Gbps for EW", 2, 400},
        NetworkNote{"Storage: 2x BF3, Compute: 8x BlueField-3 200Gb/s", 8, 200},
        NetworkNote{"99999999999999999999x 400Gb/s, 4x 200Gb/s", 4, 200},
        NetworkNote{"Ethernet, Infiniband", 0, 0}));

TEST(RowCluster, FindsBoardsByTheNamesThatRowsGiveThem) {
  const auto device = [](const char* gpu) {
    RunRow row = small_row();
    row.gpu = gpu;
    return std::get<Cluster>(row_cluster(row)).device.name;
  };
  EXPECT_EQ(device("AMD Instinct MI325X 256GB HBM3E"), "mi325x");
  EXPECT_EQ(device("AMD Instinct MI355X"), "mi355x");
  EXPECT_EQ(device("NVIDIA H20-SXM-96GB"), "h20-96g");
  EXPECT_EQ(device("NVIDIA H200-SXM-141GB"), "h200-sxm");
  EXPECT_EQ(device("GeForce RTX 4090"), "rtx-4090");
  EXPECT_EQ(device("NVIDIA L40S"), "l40s");
  EXPECT_EQ(device("A40"), "a40");
}

TEST(RowCluster, TakesTheNicsOfTheNote) {
  RunRow row = small_row();
  row.gpus = 16;
  row.network = "4x Omni-Path 100 Gb/s per node";
  const auto cluster = std::get<Cluster>(row_cluster(row));
  EXPECT_EQ(cluster.device.name, "a100-sxm-80g");
  EXPECT_EQ(cluster.nodes, 2);
  EXPECT_EQ(cluster.nics_per_node, 4);
  EXPECT_DOUBLE_EQ(cluster.nic_bytes_per_s, 12.5e9);
}

TEST(RowCluster, ANetworkMayNameTheCluster) {
  RunRow row = small_row();
  row.gpu = "H100-SXM-80GB";
  row.network = "not stated (Hugging Face science cluster)";
  EXPECT_EQ(std::get<Cluster>(row_cluster(row)).name, "aws-p5-h100");
  row.network = "not stated";
  EXPECT_EQ(std::get<Cluster>(row_cluster(row)).name, "dgx-h100");
}

TEST(RowCluster, ARackIsOneDomainOfThePartThatFillsTheJob) {
  RunRow row = small_row();
  row.gpu = "GB200";
  row.gpus_per_node = 4;
  row.gpus = 256;
  EXPECT_EQ(std::get<Cluster>(row_cluster(row)).devices_per_node, 64);
}

TEST(RowCluster, AColumnNamesTheProfile) {
  RunRow row = small_row();
  row.gpu = "";
  row.cluster = "dgx-h100";
  EXPECT_EQ(std::get<Cluster>(row_cluster(row)).device.name, "h100-sxm-80g");
}

TEST(RowCluster, AColumnNamesAFile) {
  const auto path = std::filesystem::path(testing::TempDir()) / "mine.yaml";
  std::ofstream(path) << "stepwright: cluster/1\nprofile: dgx-h100\nname: mine\nnic: 1e9\n";
  RunRow row = small_row();
  row.cluster = path.string();
  EXPECT_EQ(std::get<Cluster>(row_cluster(row)).nic_bytes_per_s, 1e9);
  row.cluster = "deep-thought";
  EXPECT_EQ(std::get<Skipped>(row_cluster(row)).reason, "no cluster profile: deep-thought");
  EXPECT_THROW(require_cluster("deep-thought"), Error);
}

TEST(RowCluster, SkipsWhatNoProfileCovers) {
  RunRow row = small_row();
  row.gpu = "TPU v4";
  EXPECT_EQ(std::get<Skipped>(row_cluster(row)).reason, "no profile of the GPU: TPU v4");
  row.gpu = "A100";
  row.gpus = 12;
  EXPECT_EQ(std::get<Skipped>(row_cluster(row)).reason, "the GPUs do not fill nodes");
}

}  // namespace
}  // namespace stepwright
