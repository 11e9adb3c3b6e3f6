// Package detection has the kernels of the operations on regions: ROI_ALIGN,
// ROI_POOLING, AXIS_ALIGNED_BBOX_TRANSFORM, HEATMAP_MAX_KEYPOINT,
// BOX_WITH_NMS_LIMIT, GENERATE_PROPOSALS. They compute in scalar single precision,
// step by step as the reference does, so that results are equal.
package detection
