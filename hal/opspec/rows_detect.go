package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// rowsDetect are the operations of regions and detection.
var rowsDetect = []Row{
	{Op: nn.OpRoiAlign, Since: V12, Types: floatQuant12, Forms: []Form{
		{V12, "input:T roi:R batches:I32 out_height:int32 out_width:int32 height_stride:S width_stride:S height_sampling:int32 width_sampling:int32 nchw:bool", "output:T"},
	}},
	{Op: nn.OpRoiPooling, Since: V12, Types: floatQuant12, SameQuant: true, Forms: []Form{
		{V12, "input:T roi:R batches:I32 out_height:int32 out_width:int32 height_stride:S width_stride:S nchw:bool", "output:T"},
	}},
	{Op: nn.OpHeatmapMaxKeypoint, Since: V12, Types: floatQuant12, Forms: []Form{
		{V12, "heatmap:T boxes:R nchw:bool", "scores:T keypoints:R"},
	}},
	{Op: nn.OpAxisAlignedBboxTransform, Since: V12, Types: "F16@1.2 F32@1.2 Q16@1.2", Forms: []Form{
		{V12, "roi:T deltas:D batches:I32 image_info:T", "output:T"},
	}},
	{Op: nn.OpBoxWithNmsLimit, Since: V12, Types: floatQuant12, Forms: []Form{
		{V12, "scores:T roi:R batches:I32 score_threshold:S max_detections:int32 nms_kernel:int32 iou_threshold:S sigma:S nms_score_threshold:S", "scores:T roi:R classes:I32 batches:I32"},
	}},
	{Op: nn.OpDetectionPostprocessing, Since: V12, Types: float12, Forms: []Form{
		{V12, "scores:T deltas:T anchors:T scale_y:S scale_x:S scale_h:S scale_w:S use_regular_nms:bool max_detections:int32 " +
			"max_classes_per_detection:int32 max_detections_per_class:int32 score_threshold:S iou_threshold:S is_bg_in_label:bool", "scores:T roi:T classes:I32 count:I32"},
	}},
	{Op: nn.OpGenerateProposals, Since: V12, Types: floatQuant12, Forms: []Form{
		{V12, "scores:T deltas:T anchors:A image_info:R height_stride:S width_stride:S pre_nms_max:int32 post_nms_max:int32 iou_threshold:S min_size:S nchw:bool", "scores:T roi:R batches:I32"},
	}},
}
