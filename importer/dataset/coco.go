package dataset

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
)

// openCOCO reads an instances file of COCO: boxes are x, y, width and height in
// pixels. Categories keep their ids, or take the index of their name in the
// labels.
func openCOCO(path string, o *Options) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, 4*maxList))
	if err != nil {
		return nil, err
	}
	var file struct {
		Images []struct {
			ID     int64   `json:"id"`
			File   string  `json:"file_name"`
			Width  float64 `json:"width"`
			Height float64 `json:"height"`
		} `json:"images"`
		Annotations []struct {
			Image    int64      `json:"image_id"`
			Category int        `json:"category_id"`
			Box      [4]float64 `json:"bbox"`
			Crowd    int        `json:"iscrowd"`
		} `json:"annotations"`
		Categories []struct {
			ID   int    `json:"id"`
			Name string `json:"name"`
		} `json:"categories"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	class := map[int]int{}
	for _, c := range file.Categories {
		class[c.ID] = c.ID
		if k, ok := o.class(c.Name); ok {
			class[c.ID] = k
		}
	}
	index := map[int64]int{}
	var samples []sample
	for i, m := range file.Images {
		if _, twice := index[m.ID]; twice || m.File == "" || !(m.Width > 0 && m.Height > 0) {
			return nil, fmt.Errorf("images[%d]: want an id of its own, file_name, width and height", i)
		}
		index[m.ID] = len(samples)
		picture := beside(path, m.File)
		if !exists(picture) {
			picture = filepath.Join(filepath.Dir(path), "images", filepath.FromSlash(m.File))
		}
		samples = append(samples, sample{name: m.File, path: picture, class: -1, size: [2]float64{m.Width, m.Height}})
	}
	for i, a := range file.Annotations {
		at, ok := index[a.Image]
		if !ok {
			return nil, fmt.Errorf("annotations[%d]: no image has id %d", i, a.Image)
		}
		k, ok := class[a.Category]
		if !ok && len(file.Categories) > 0 {
			return nil, fmt.Errorf("annotations[%d]: no category has id %d", i, a.Category)
		} else if !ok {
			k = a.Category
		}
		b := a.Box
		if !(b[2] >= 0 && b[3] >= 0) || math.IsNaN(b[0]+b[1]) {
			return nil, fmt.Errorf("annotations[%d]: box %v", i, b)
		}
		samples[at].boxes = append(samples[at].boxes, Box{k, b[0], b[1], b[0] + b[2], b[1] + b[3], a.Crowd != 0})
	}
	sort.SliceStable(samples, func(i, j int) bool { return samples[i].name < samples[j].name })
	return fromFiles(samples, o)
}
