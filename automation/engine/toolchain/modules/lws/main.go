// The controller of LeaderWorkerSets: the project's reconcilers and webhooks, as its own main starts them.
//
// That one also makes certificates, serves metrics to whom the API server permits, and runs a second controller, for
// DisaggregatedSets. A local control plane has no use for these; they are a quarter of the packages to be built.
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	leaderworkerset "sigs.k8s.io/lws/api/leaderworkerset/v1"
	"sigs.k8s.io/lws/pkg/controllers"
	"sigs.k8s.io/lws/pkg/webhooks"
)

// Filled by the linker.
var version string

func main() {
	address := flag.String("webhook-address", "127.0.0.1", "the address to serve webhooks at")
	port := flag.Int("webhook-port", 9443, "the port to serve webhooks at")
	certificates := flag.String("webhook-cert-dir", "", "the folder of tls.crt and tls.key")
	asked := flag.Bool("version", false, "print the version and exit")
	flag.Parse() // with --kubeconfig, which controller-runtime defines
	if *asked {
		fmt.Printf("lws-controller-manager v%s\n", version)
		return
	}
	ctrl.SetLogger(klog.NewKlogr())
	if err := run(webhook.Options{Host: *address, Port: *port, CertDir: *certificates}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(served webhook.Options) error {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(leaderworkerset.AddToScheme(scheme))
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// What the project's own main lets a controller ask for.
	config.QPS, config.Burst = 500, 500
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Metrics:       server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(served),
	})
	if err != nil {
		return err
	}
	if err := controllers.SetupIndexes(manager.GetFieldIndexer()); err != nil {
		return err
	}
	client, known := manager.GetClient(), manager.GetScheme()
	events := manager.GetEventRecorder("leaderworkerset")
	if err := controllers.NewLeaderWorkerSetReconciler(client, known, events).SetupWithManager(manager); err != nil {
		return err
	}
	// No other scheduler is told of groups.
	if err := controllers.NewPodReconciler(client, known, events, nil).SetupWithManager(manager); err != nil {
		return err
	}
	if err := webhooks.SetupLeaderWorkerSetWebhook(manager); err != nil {
		return err
	}
	if err := webhooks.NewPodWebhook(nil).Setup(manager); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
