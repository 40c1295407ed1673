// SPDX-License-Identifier: MIT

// As peers.py says, for Go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	aspawn "aspawn.example/bindings/go"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func number(word string) float64 {
	value, err := strconv.ParseFloat(word, 64)
	must(err)
	return value
}

// A child whose output is read to its end.
type child interface {
	StdoutPipe() (io.ReadCloser, error)
	Start() error
	Wait() error
}

func blockedBy(c child) (time.Duration, func()) {
	out, err := c.StdoutPipe()
	must(err)
	begin := time.Now()
	must(c.Start())
	took := time.Since(begin)
	return took, func() {
		_, err := io.Copy(io.Discard, out)
		must(err)
		must(c.Wait())
	}
}

func main() {
	way, what, program := os.Args[1], os.Args[2], os.Args[3]
	count, seconds := int(number(os.Args[4])), time.Duration(number(os.Args[5])*float64(time.Second))
	touched := make([]byte, int(number(os.Args[6]))<<20)
	for i := 0; i < len(touched); i += 4096 {
		touched[i] = 1
	}
	var queue *aspawn.Queue
	if way == "queue" {
		var err error
		queue, err = aspawn.NewQueue(aspawn.QueueOptions{})
		must(err)
	}
	once := func() (time.Duration, func()) {
		switch way {
		case "os/exec":
			return blockedBy(exec.Command(program))
		case "aspawn":
			return blockedBy(aspawn.Command(program))
		}
		job := &aspawn.Job{Cmd: aspawn.Command(program)}
		begin := time.Now()
		result, err := queue.Submit(context.Background(), job)
		took := time.Since(begin)
		must(err)
		return took, func() { <-result }
	}
	output := func() []byte {
		var out []byte
		var err error
		switch way {
		case "os/exec":
			out, err = exec.Command(program).Output()
		case "aspawn":
			out, err = aspawn.Command(program).Output()
		default:
			result := queue.Run(context.Background(), &aspawn.Job{Cmd: aspawn.Command(program)})
			out, err = result.Stdout, result.Err
		}
		must(err)
		return out
	}
	if what == "blocked" {
		var begin time.Time
		for i := -20; i < count && (i <= 0 || time.Since(begin) < seconds); i++ {
			if i == 0 {
				begin = time.Now()
			}
			took, wait := once()
			wait()
			if i >= 0 {
				fmt.Printf("%.1f\n", float64(took.Nanoseconds())/1000)
			}
		}
	} else {
		var all sync.WaitGroup
		var done int64
		begin := time.Now()
		for worker := 0; worker < 16; worker++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for ; time.Since(begin) < seconds; atomic.AddInt64(&done, 1) {
					if string(output()) != "text\n" {
						panic("another text")
					}
				}
			}()
		}
		all.Wait()
		fmt.Printf("%.1f\n", float64(done)/time.Since(begin).Seconds())
	}
	runtime.KeepAlive(touched)
}
