// SPDX-License-Identifier: MIT

//go:build ignore

// Two tables: how long Start blocks its caller, and how many commands a second 16 goroutines run
// whose output is collected, by os/exec and by aspawn. Each figure is of processes of its own, in
// turns, which have touched so many MiB, or opened so many files.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	aspawn "aspawn.example/bindings/go"
)

const (
	starts = 200
	runs   = 1000
	rounds = 3
)

var cases = []struct {
	name       string
	mib, files int
}{{"nothing touched", 0, 0}, {"512 MiB touched", 512, 0}, {"1 GiB touched", 1024, 0}, {"1000 files open", 0, 1000}}

// A way to start /bin/true, which returns what waits for it;
// and one to run a static program that writes.
var ways = []struct {
	name  string
	start func() func()
	echo  func() string
}{
	{"os/exec", func() func() {
		c := exec.Command("/bin/true")
		must(c.Start())
		return func() { c.Wait() }
	}, func() string {
		out, err := exec.Command("./echo").Output()
		must(err)
		return string(out)
	}},
	{"aspawn", func() func() { return started(aspawn.OwnerCaller) }, func() string {
		out, err := aspawn.Command("./echo").Output()
		must(err)
		return string(out)
	}},
	{"aspawn, private", func() func() { return started(aspawn.OwnerPrivate) }, nil},
	{"aspawn, queue", func() func() {
		result, err := queue().Submit(context.Background(), &aspawn.Job{Cmd: aspawn.Command("/bin/true")})
		must(err)
		return func() { <-result }
	}, func() string {
		r := queue().Run(context.Background(), &aspawn.Job{Cmd: aspawn.Command("./echo")})
		must(r.Err)
		return string(r.Stdout)
	}},
}

func started(owner aspawn.Owner) func() {
	c := aspawn.Command("/bin/true")
	c.Owner = owner
	must(c.Start())
	return func() { c.Wait() }
}

var once sync.Once
var only *aspawn.Queue

func queue() *aspawn.Queue {
	once.Do(func() {
		var err error
		only, err = aspawn.NewQueue(aspawn.QueueOptions{})
		must(err)
	})
	return only
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// blocked prints microseconds of each start.
func blocked(start func() func()) {
	for i := -20; i < starts; i++ {
		begin := time.Now()
		wait := start()
		took := time.Since(begin)
		wait()
		if i >= 0 {
			fmt.Println(float64(took.Nanoseconds()) / 1000)
		}
	}
}

// throughput prints commands a second.
func throughput(echo func() string) {
	var all sync.WaitGroup
	begin := time.Now()
	for worker := 0; worker < 16; worker++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < runs/16; i++ {
				if echo() != "text\n" {
					panic("another text")
				}
			}
		}()
	}
	all.Wait()
	fmt.Println(float64(runs/16*16) / time.Since(begin).Seconds())
}

func measure(what string, way, of int) {
	touched := make([]byte, cases[of].mib<<20)
	for i := 0; i < len(touched); i += 4096 {
		touched[i] = 1
	}
	var files []*os.File
	for i := 0; i < cases[of].files; i++ {
		file, err := os.Open("/dev/null")
		must(err)
		files = append(files, file)
	}
	if what == "blocked" {
		blocked(ways[way].start)
	} else {
		throughput(ways[way].echo)
	}
	runtime.KeepAlive(touched)
	runtime.KeepAlive(files)
}

// figures of all rounds, in order of their size, by way and case.
func figures(what string) map[[2]int][]float64 {
	all := map[[2]int][]float64{}
	for round := 0; round < rounds; round++ {
		for of := range cases {
			for way := range ways {
				if what != "blocked" && ways[way].echo == nil {
					continue
				}
				out, err := exec.Command(os.Args[0], what, fmt.Sprint(way), fmt.Sprint(of)).Output()
				must(err)
				for _, word := range strings.Fields(string(out)) {
					figure, err := strconv.ParseFloat(word, 64)
					must(err)
					all[[2]int{way, of}] = append(all[[2]int{way, of}], figure)
				}
			}
		}
	}
	for _, of := range all {
		sort.Float64s(of)
	}
	return all
}

func main() {
	if len(os.Args) == 4 {
		way, _ := strconv.Atoi(os.Args[2])
		of, _ := strconv.Atoi(os.Args[3])
		measure(os.Args[1], way, of)
		return
	}
	fmt.Printf("%s, %d processors, %d times %d starts\n\n", runtime.Version(), runtime.NumCPU(), rounds, starts)
	head := "| %s |"
	line := "| --- |"
	for _, of := range cases {
		head += " " + of.name + " |"
		line += " ---: |"
	}
	times, rates := figures("blocked"), figures("throughput")
	fmt.Printf(head+"\n"+line+"\n", "blocked, us: median / p95")
	for way, is := range ways {
		fmt.Printf("| %s |", is.name)
		for of := range cases {
			list := times[[2]int{way, of}]
			fmt.Printf(" %.0f / %.0f |", list[len(list)/2], list[len(list)*95/100])
		}
		fmt.Println()
	}
	fmt.Printf("\n"+head+"\n"+line+"\n", "16 at once, commands a second")
	for way, is := range ways {
		if is.echo == nil {
			continue
		}
		fmt.Printf("| %s |", is.name)
		for of := range cases {
			list := rates[[2]int{way, of}]
			fmt.Printf(" %.0f |", list[len(list)/2])
		}
		fmt.Println()
	}
}
