// Publishes by WHIP or plays by WHEP with pion, for Tools/soak peers. It reads H.264 in Annex B form and Ogg Opus, and says each frame
// that it plays, one JSON object a line.
//
//	pion publish URL TOKEN VIDEO AUDIO
//	pion play URL TOKEN AUDIO
package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/webrtc"
	"github.com/pion/webrtc/pkg/media"
	"github.com/pion/webrtc/pkg/media/h264reader"
	"github.com/pion/webrtc/pkg/media/oggreader"
	"github.com/pion/webrtc/pkg/media/oggwriter"
)

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// negotiate sends our offer with all its candidates, and takes the answer.
func negotiate(connection *webrtc.PeerConnection, url, token string) {
	offer, err := connection.CreateOffer(nil)
	check(err)
	gathered := webrtc.GatheringCompletePromise(connection)
	check(connection.SetLocalDescription(offer))
	<-gathered
	request, err := http.NewRequest("POST", url, bytes.NewBufferString(connection.LocalDescription().SDP))
	check(err)
	request.Header.Set("Content-Type", "application/sdp")
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(request)
	check(err)
	text, err := io.ReadAll(answer.Body)
	check(err)
	if answer.StatusCode != 201 {
		fmt.Println(answer.Status)
		os.Exit(1)
	}
	check(connection.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(text)}))
}

func publish(connection *webrtc.PeerConnection, url, token, video, audio string) {
	pictures, err := webrtc.NewTrackLocalStaticSample(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeH264}, "video", "pion")
	check(err)
	sound, err := webrtc.NewTrackLocalStaticSample(
		webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus}, "audio", "pion")
	check(err)
	for _, track := range []webrtc.TrackLocal{pictures, sound} {
		sender, err := connection.AddTrack(track)
		check(err)
		// Reads RTCP, so that the interceptors answer NACKs.
		go func() {
			for buffer := make([]byte, 1500); ; {
				if _, _, err := sender.Read(buffer); err != nil {
					return
				}
			}
		}()
	}
	connected := make(chan bool)
	connection.OnConnectionStateChange(func(state webrtc.PeerConnectionState) {
		if state == webrtc.PeerConnectionStateConnected {
			close(connected)
		}
	})
	negotiate(connection, url, token)
	<-connected
	go func() {
		file, err := os.Open(audio)
		check(err)
		reader, _, err := oggreader.NewWith(file)
		check(err)
		for range time.Tick(20 * time.Millisecond) {
			page, _, err := reader.ParseNextPage()
			if err == io.EOF {
				return
			}
			check(err)
			check(sound.WriteSample(media.Sample{Data: page, Duration: 20 * time.Millisecond}))
		}
	}()
	file, err := os.Open(video)
	check(err)
	reader, err := h264reader.NewReader(file)
	check(err)
	ticker := time.NewTicker(40 * time.Millisecond)
	for {
		unit, err := reader.NextNAL()
		if err == io.EOF {
			return
		}
		check(err)
		isSlice := unit.UnitType == h264reader.NalUnitTypeCodedSliceIdr ||
			unit.UnitType == h264reader.NalUnitTypeCodedSliceNonIdr
		duration := time.Duration(0)
		if isSlice {
			<-ticker.C
			duration = 40 * time.Millisecond
		}
		check(pictures.WriteSample(media.Sample{Data: unit.Data, Duration: duration}))
	}
}

func play(connection *webrtc.PeerConnection, url, token, audio string) {
	for _, kind := range []webrtc.RTPCodecType{webrtc.RTPCodecTypeVideo, webrtc.RTPCodecTypeAudio} {
		_, err := connection.AddTransceiverFromKind(
			kind, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly})
		check(err)
	}
	connection.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		var writer *oggwriter.OggWriter
		if track.Kind() == webrtc.RTPCodecTypeAudio {
			var err error
			writer, err = oggwriter.New(audio, 48000, 2)
			check(err)
		}
		for {
			packet, _, err := track.ReadRTP()
			check(err)
			if writer != nil {
				check(writer.WriteRTP(packet))
			} else if packet.Marker {
				fmt.Printf("{\"event\": \"frame\", \"pts\": %d}\n", packet.Timestamp)
			}
		}
	})
	negotiate(connection, url, token)
	select {}
}

func main() {
	engine := webrtc.SettingEngine{}
	engine.SetIncludeLoopbackCandidate(true)
	mediaEngine := &webrtc.MediaEngine{}
	check(mediaEngine.RegisterDefaultCodecs())
	// They send and answer NACKs.
	interceptors := &interceptor.Registry{}
	check(webrtc.RegisterDefaultInterceptors(mediaEngine, interceptors))
	connection, err := webrtc.NewAPI(
		webrtc.WithSettingEngine(engine), webrtc.WithMediaEngine(mediaEngine),
		webrtc.WithInterceptorRegistry(interceptors)).NewPeerConnection(webrtc.Configuration{})
	check(err)
	switch os.Args[1] {
	case "publish":
		publish(connection, os.Args[2], os.Args[3], os.Args[4], os.Args[5])
	case "play":
		play(connection, os.Args[2], os.Args[3], os.Args[4])
	}
}
